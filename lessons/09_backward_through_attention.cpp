// 09 backward_through_attention: every gradient inside attention, by hand and by the engine.
//
// Before this lesson: 08_autograd, the chain rule for single numbers.
// After it: 10_attention_head, attention as a part that can be trained.
// Worth a breakpoint: score_gradient. Go on with `next`: each share adds what it has to say.

#include <cmath>

#include "heed/autograd/backward.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/mask.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "heed/ops/softmax.hpp"
#include "lesson.hpp"

using namespace heed;
using xt::linalg::dot;

const Names words = {"the", "cat", "sat"};

struct Attention {
  Tensor K, Q, V, S, A, R;
};

// The attention of lesson 05, with all its steps kept.
Attention attend(const Tensor& T, const Tensor& W_K, const Tensor& W_Q, const Tensor& W_V) {
  Attention a;
  a.K = matmul(T, W_K).set_name("K");  // (3, 5) times (5, 4) is (3, 4)
  a.Q = matmul(T, W_Q).set_name("Q");
  a.V = matmul(T, W_V).set_name("V");
  const Tensor products = matmul(a.Q, transpose(a.K, 0, 1)).set_name("Q K^T");  // (3, 3)
  a.S = masked_fill(products / 2, causal_mask(3), -INFINITY).set_name("S");  // 2 is the root of 4
  a.A = softmax(a.S, -1).set_name("A");
  a.R = matmul(a.A, a.V).set_name("R");  // (3, 3) times (3, 4) is (3, 4)
  return a;
}

Tensor half_squares(const Tensor& a, const Tensor& b) { return sum(power(a - b, 2)) / 2; }

// The slope of the loss along S(i, j). Each share k of row i follows that score with A_k times
// (1 - A_j) when it is the score's own, else times -A_j.
Real score_gradient(const Array& dA, const Array& A, std::size_t i, std::size_t j) {
  Real sum = 0;
  for (std::size_t k = 0; k < A.shape(1); ++k) {
    sum += dA(i, k) * A(i, k) * ((k == j ? 1 : 0) - A(i, j));
  }
  return sum;
}

void check_gradient(const Array& by_hand, const Array& one_line, const Tensor& x) {
  check("by hand = in one line", by_hand, one_line);
  check("in one line = by the engine", one_line, x.grad());
}

void show_sources(const Tensor& x) {
  say("", "the gradient of " + x.name());
  for (const Contribution& part : contributions(x))
    say("  += from " + part.op + " '" + part.name + "', " + str(part.location) + ", norm " +
        decimal(part.norm, 4));
}

int main() {
  section("What we want");
  say("Here is lesson 05's attention once more. Who listens to whom is A, what they",
      "hear is R. W_K, W_Q and W_V are to learn, so they ask for gradients. T asks too.");
  Generator g(42);
  const Tensor T = Tensor(g.randn({3, 5}), /*requires_grad=*/true).set_name("T");
  const Tensor W_K = Tensor(g.randn({5, 4}), true).set_name("W_K");
  const Tensor W_Q = Tensor(g.randn({5, 4}), true).set_name("W_Q");
  const Tensor W_V = Tensor(g.randn({5, 4}), true).set_name("W_V");
  const Attention now = attend(T, W_K, W_Q, W_V);
  const Array &K = now.K.value(), &Q = now.Q.value(), &V = now.V.value();  // (3, 4) each
  const Array &A = now.A.value(), &R = now.R.value();                      // (3, 3) and (3, 4)
  show("A", A, words, words);
  show("R", R, words);
  say("", "Who sat? The cat. So 'sat' should hear what 'cat' hands over, its row of V, and",
      "'cat' what 'the' hands over. 'the' has only itself. How far is R from that?",
      "Square the differences, add them up, take half: this is the loss.");
  Array wanted = V;  // (3, 4), to be V's rows 0, 0 and 1
  xt::row(wanted, 1) = xt::row(V, 0);
  xt::row(wanted, 2) = xt::row(V, 1);
  const Tensor loss = half_squares(now.R, Tensor(wanted));
  show("wanted", wanted, words);
  say("", "loss  " + decimal(loss.item(), 4));
  BackwardOptions options;
  options.provenance = true;  // remember where each part of a gradient came from
  backward(loss, options);

  section("The first step back: dR");
  say("dX is short for the gradient of the loss along X: how much each number of X is",
      "to blame. That is one slope for each, so dX has X's shape. The slope of x^2 / 2",
      "is x, so dR is R less what is wanted. 'the' is right already, and not to blame.");
  Array dR = R - wanted;  // (3, 4)
  show("dR = R - wanted", dR, words);
  check("in one line = by the engine", dR, now.R.grad());

  section("Back through R = A V: dV and dA");
  say("Row i of R took row j of V with weight A(i, j), and the blame goes back with the",
      "same weight: lesson 04's arrows turned round, so A transposed. The weight itself",
      "is to blame as far as row i of dR and row j of V point the same way: their dot", "product.");
  Array dV_by_hand = zeros({3, 4}), dA_by_hand = zeros({3, 3});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t d = 0; d < 4; ++d) {
        dV_by_hand(j, d) += A(i, j) * dR(i, d);
        dA_by_hand(i, j) += dR(i, d) * V(j, d);
      }
  Array dV = dot(xt::transpose(A), dR);  // (3, 3) times (3, 4) is (3, 4)
  Array dA = dot(dR, xt::transpose(V));  // (3, 4) times (4, 3) is (3, 3)
  show("dV = A^T dR", dV, words);
  check_gradient(dV_by_hand, dV, now.V);
  show("dA = dR V^T", dA, words, words);
  check_gradient(dA_by_hand, dA, now.A);

  section("Back through A = softmax(S): dS");
  say("S are the scores, halved and masked. Lesson 06 had the slopes of a row of shares",
      "along a score S_j. They come from here: raise S_j by a tiny h, and its e^S grows",
      "by h times itself, so the row's sum by h A_j times itself. Each share k loses",
      "h A_k A_j, and share j also gains h A_j. Thus a score answers for all the shares",
      "of its row, and score_gradient adds up. In one line: a share, times how far its",
      "dA lies above the row's average, in which each dA counts by its share.");
  Array dS_by_hand = zeros({3, 3});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) dS_by_hand(i, j) = score_gradient(dA, A, i, j);
  Array average = xt::sum(A * dA, {1});                               // (3)
  Array dS = A * (dA - xt::view(average, xt::all(), xt::newaxis()));  // (3, 3), (3, 1) a column
  show("dS = A * (dA - rowsum(A * dA))", dS, words, words);
  check_gradient(dS_by_hand, dS, now.S);
  Array row_sums = xt::sum(dS, {1}), hidden = xt::triu(dS, 1);
  check("each row of dS sums to zero", row_sums, zeros({3}));
  say("", "It must: raise all scores of a row alike, and no share changes. And masked",
      "places get exactly zero. In the row of 'cat', dA has " + decimal(dA(1, 2), 4) +
          " for 'sat': a",
      "larger share would help. But that share is 0 whatever its score, so the score is",
      "not to blame.");
  check("dS is zero right of the diagonal, to the last bit", hidden, zeros({3, 3}), 0);

  section("Forward and backward, side by side");
  say("Left the shares A that went forward, right the dS that came back. Where dS is",
      "below zero, a higher score makes the loss smaller: 'sat' should ask more for",
      "'cat', and less for 'the'.");
  const Array& S = now.S.value();  // minus infinity where the mask hides
  Array hides = xt::hstack(xt::xtuple(S, S)), sides = xt::hstack(xt::xtuple(A, dS));  // (3, 6)
  Array both = xt::where(xt::equal(hides, -INFINITY), -INFINITY, sides);
  HeatmapOptions shades{
      "A, then dS", words, {"A the", "A cat", "A sat", "dS the", "dS cat", "dS sat"}};
  shades.low = -1, shades.high = 1, shades.diverging = true;
  picture("09_backward_through_attention", "both", both, shades);

  section("Back through S = Q K^T / 2: dQ and dK");
  say("A score is the product of a query and a key, so each of the two gets the other,",
      "times the score's blame, and halved. Where the mask hides, dS is 0 already.");
  Array dQ_by_hand = zeros({3, 4}), dK_by_hand = zeros({3, 4});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t d = 0; d < 4; ++d) {
        dQ_by_hand(i, d) += dS(i, j) * K(j, d) / 2;
        dK_by_hand(j, d) += dS(i, j) * Q(i, d) / 2;
      }
  Array dQ = dot(dS, K) / 2;                 // (3, 3) times (3, 4) is (3, 4)
  Array dK = dot(xt::transpose(dS), Q) / 2;  // (3, 4)
  show("dQ = dS K / 2", dQ, words);
  check_gradient(dQ_by_hand, dQ, now.Q);
  show("dK = dS^T Q / 2", dK, words);
  check_gradient(dK_by_hand, dK, now.K);

  section("Back to the matrices, and to T");
  say("K = T W_K is a product as R = A V was, so dW_K comes as dV did. And T was used",
      "three times. Each use sends its part, and the parts add up, as in lesson 08.");
  Array transposed = xt::transpose(T.value());  // (5, 3)
  Array dW_K = dot(transposed, dK), dW_Q = dot(transposed, dQ),
        dW_V = dot(transposed, dV);  // (5, 4)
  Array dT = dot(dK, xt::transpose(W_K.value())) + dot(dQ, xt::transpose(W_Q.value())) +
             dot(dV, xt::transpose(W_V.value()));  // (3, 4) times (4, 5) is (3, 5), three times
  show("dW_K = T^T dK", dW_K);
  check("dW_K in one line = by the engine", dW_K, W_K.grad());
  check("dW_Q = T^T dQ = by the engine", dW_Q, W_Q.grad());
  check("dW_V = T^T dV = by the engine", dW_V, W_V.grad());
  show("dT = dK W_K^T + dQ W_Q^T + dV W_V^T", dT, words);
  check("in one line = by the engine", dT, T.grad());
  say("", "The engine can tell where each part came from: the operation, the line above",
      "that made it, and the norm, which is the length of the part as one long vector.");
  show_sources(W_K);
  show_sources(T);

  section("Downhill");
  say("Take a hundredth of their gradients away from the three matrices, twenty times.",
      "What is wanted stays as it is, though V moves.", "",
      "step    loss    'sat' listens to 'cat'");
  for (int step = 0; step <= 20; ++step) {
    const Attention then = attend(T, W_K, W_Q, W_V);
    const Tensor rest = half_squares(then.R, Tensor(wanted));
    if (step < 3 || step % 10 == 0)
      say(pad_left(std::to_string(step), 4) + "  " + decimal(rest.item(), 4) + "    " +
          decimal(then.A.value()(2, 1), 4));
    for (Tensor W : {W_K, W_Q, W_V}) W.clear_grad();
    backward(rest);
    for (Tensor W : {W_K, W_Q, W_V}) W.mutable_value() -= Real(0.01) * W.grad();
  }
  say("", "Nobody told the scores where to go. But three matrices that learn three words",
      "know them by heart, no more. Can they learn a rule that holds for words they",
      "have not seen? For that, attention becomes a part of its own: 10_attention_head.", "",
      "To walk this way yourself, node by node, start gdb with: ./heed debug 9", "",
      "  heed step             the first node to send back, and the gradient it got",
      "  heed step Softmax     on to A; dA has arrived", "  info args             dA, and A",
      "  heed graph            who is to come; => shows who is at it",
      "  heed step K           on to K = T W_K",
      "  heed why K            where its gradient came from", "",
      "To see the shares answer for one score: break score_gradient if i == 2, run, then",
      "next until you are in the loop, and print sum.");
}
