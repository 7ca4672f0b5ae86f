// 09 backward_through_attention: the gradients dV, dA, dS, dQ and dK, by hand and by the engine.
//
// Before this lesson: 08_autograd, the chain rule for single numbers.
// After it: 10_attention_head, an attention head as a module that can be trained.
// Worth a breakpoint: score_gradient. Go on with `next`: each attention weight adds one term.

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
const std::string lesson_name = "09_backward_through_attention";

struct Attention {
  Tensor K, Q, V, S, A, R;
};

// The attention of lesson 05, with all intermediate results.
Attention attend(const Tensor& T, const Tensor& W_K, const Tensor& W_Q, const Tensor& W_V) {
  Attention a;
  a.K = matmul(T, W_K).set_name("K");  // (3, 5) times (5, 4) is (3, 4)
  a.Q = matmul(T, W_Q).set_name("Q");
  a.V = matmul(T, W_V).set_name("V");
  const Tensor products = matmul(a.Q, transpose(a.K, 0, 1)).set_name("Q K^T");  // (3, 3)
  a.S = masked_fill(products / 2, causal_mask(3), -INFINITY).set_name("S");     // 2 is sqrt(4)
  a.A = softmax(a.S, -1).set_name("A");
  a.R = matmul(a.A, a.V).set_name("R");  // (3, 3) times (3, 4) is (3, 4)
  return a;
}

Tensor half_squares(const Tensor& a, const Tensor& b) { return sum(power(a - b, 2)) / 2; }

// The derivative of the loss with respect to S(i, j): the sum of dA(i, k) times the derivative of
// A(i, k) with respect to S(i, j), over the attention weights k of row i.
Real score_gradient(const Array& dA, const Array& A, std::size_t i, std::size_t j) {
  Real sum = 0;
  for (std::size_t k = 0; k < A.shape(1); ++k)
    sum += dA(i, k) * A(i, k) * ((k == j ? 1 : 0) - A(i, j));
  return sum;
}

void check_gradient(const Array& by_hand, const Array& one_line, const Tensor& x) {
  check("by hand = in one line", by_hand, one_line);
  check("in one line = by the engine", one_line, x.grad());
}

// The backward pass in Graphviz's language: each edge computes a gradient from another one.
const std::string backward_flow = R"dot(digraph {
  rankdir=LR
  node [shape=box, style=rounded, fontname="sans-serif"]
  edge [color="#0072B2", fontname="sans-serif", fontsize=11]
  dR [label="dR (3, 4)"]  dA [label="dA (3, 3)"]  dS [label="dS (3, 3)"]
  dV [label="dV (3, 4)"]  dQ [label="dQ (3, 4)"]  dK [label="dK (3, 4)"]
  dW_V [label="dW_V (5, 4)"]  dW_Q [label="dW_Q (5, 4)"]  dW_K [label="dW_K (5, 4)"]
  loss -> dR [label="R - target"]
  dR -> dV [label="A^T dR"]
  dR -> dA [label="dR V^T"]
  dA -> dS [label="A * (dA - rowsum(A * dA))"]
  dS -> dQ [label="dS K / 2"]
  dS -> dK [label="dS^T Q / 2"]
  dV -> dW_V [label="T^T dV"]
  dQ -> dW_Q [label="T^T dQ"]
  dK -> dW_K [label="T^T dK"]
})dot";

void forward_and_backward(const Array& A, const Array& dS) {
  section("A and dS as heat maps");
  say("Where dS is negative, a larger score makes the loss smaller: 'sat' should attend",
      "more to 'cat' and less to 'the'.");
  HeatmapOptions shades{"attention weights A", words, words, "query position", "key position"};
  picture(lesson_name, "A", xt::where(causal_mask(3), -INFINITY, A), shades);
  shades.title = "dS, the gradient of the loss with respect to the scores";
  shades.diverging = true;  // a scale of its own, from -0.7048 to 0.7048
  picture(lesson_name, "dS", xt::where(causal_mask(3), -INFINITY, dS), shades);
}

std::pair<Array, Array> query_and_key_gradients(const Attention& now, const Array& dS) {
  section("S = Q K^T / 2: dQ and dK");
  say("A score is the dot product of a query and a key, divided by 2, the root of 4.",
      "So the terms of dQ contain K, and those of dK contain Q.");
  const Array &Q = now.Q.value(), &K = now.K.value();
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
  return {dQ, dK};
}

void show_sources(const Tensor& x) {
  say("", "the gradient of " + x.name());
  for (const Contribution& part : contributions(x))
    say("  += from " + part.op + " '" + part.name + "', " + str(part.location) + ", norm " +
        decimal(part.norm, 4));
}

void gradient_descent(const Tensor& T, const std::vector<Tensor>& W, const Tensor& target) {
  section("Gradient descent");
  say("Twenty gradient descent steps for W_K, W_Q and W_V, with learning rate 0.01. The",
      "target is constant, although V changes.", "",
      "step    loss    attention weight of 'sat' on 'cat'");
  for (int step = 0; step <= 20; ++step) {
    const Attention now = attend(T, W[0], W[1], W[2]);
    const Tensor loss = half_squares(now.R, target);
    if (step < 3 || step % 10 == 0)
      say(pad_left(std::to_string(step), 4) + "  " + decimal(loss.item(), 4) + "    " +
          decimal(now.A.value()(2, 1), 4));
    for (Tensor w : W) w.clear_grad();
    backward(loss);
    for (Tensor w : W) w.mutable_value() -= Real(0.01) * w.grad();
  }
}

int main() {
  opening({"derive every gradient of attention, and compute it by hand",
           "S = Q K^T / sqrt(d), A = softmax(S), R = A V\n"
           "dV = A^T dR, dA = dR V^T, dS = A * (dA - rowsum(A * dA)),\n"
           "dQ = dS K / sqrt(d), dK = dS^T Q / sqrt(d)   (* is elementwise)\n"
           "Q, K, V, R and their gradients (3, 4), S, A, dS, dA (3, 3), d = 4",
           "Dao et al. 2022, FlashAttention: Fast and Memory-Efficient Exact\n"
           "Attention with IO-Awareness, appendix B.2",
           "Tensor.backward, Tensor.grad, Tensor.retain_grad"});
  section("Output and loss");
  say("This is lesson 05's attention: attention weights A and output R. The causal mask",
      "hides later positions. Rows of A are query positions, columns key positions.");
  Generator g(42);
  const Tensor T = Tensor(g.randn({3, 5}), /*requires_grad=*/true).set_name("T");
  const Tensor W_K = Tensor(g.randn({5, 4}), true).set_name("W_K");
  const Tensor W_Q = Tensor(g.randn({5, 4}), true).set_name("W_Q");
  const Tensor W_V = Tensor(g.randn({5, 4}), true).set_name("W_V");
  const Attention now = attend(T, W_K, W_Q, W_V);
  const Array &V = now.V.value(), &A = now.A.value(), &R = now.R.value();  // A is (3, 3)
  show("A", A, words, words);
  show("R", R, words);
  say("", "Who sat? The cat. So let the target be: the output of 'sat' is the value of",
      "'cat', the outputs of 'cat' and 'the' are the value of 'the'. The loss is half",
      "the sum of the squared differences between R and the target.");
  Array wanted = V;  // (3, 4), to be V's rows 0, 0 and 1
  xt::row(wanted, 1) = xt::row(V, 0);
  xt::row(wanted, 2) = xt::row(V, 1);
  const Tensor loss = half_squares(now.R, Tensor(wanted));
  show("target", wanted, words);
  say("", "loss  " + decimal(loss.item(), 4));
  BackwardOptions options;
  options.provenance = true;  // record the terms of each gradient
  backward(loss, options);

  section("The upstream gradient dR");
  say("dX is short for the gradient of the loss with respect to X, and has X's shape.",
      "In the backward pass an operation gets the gradient of its output, the UPSTREAM",
      "GRADIENT, and computes the gradients of its inputs. The derivative of x^2 / 2 is",
      "x, so dR = R - target. From dR follow dV, dA, dS, dQ and dK:");
  picture(lesson_name, "backward", backward_flow);
  Array dR = R - wanted;  // (3, 4)
  show("dR = R - target", dR, words);
  check("in one line = by the engine", dR, now.R.grad());

  section("R = A V: dV and dA");
  say("R(i, d) is the sum of A(i, j) V(j, d) over j. So A(i, j) dR(i, d) is a term of",
      "dV(j, d), and dR(i, d) V(j, d) is a term of dA(i, j). Add the terms:");
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

  section("A = softmax(S): dS");
  say("S contains the scaled, masked scores. If S_j grows by a tiny h, e^S_j grows by h",
      "times itself, and the sum of its row by h A_j times itself. So each A_k changes",
      "by -h A_k A_j, and A_j also by h A_j. score_gradient adds dA_k times these",
      "changes, divided by h. In one line: A times the difference of dA and the average",
      "of its row, an average weighted by A.");
  Array dS_by_hand = zeros({3, 3});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) dS_by_hand(i, j) = score_gradient(dA, A, i, j);
  Array average = xt::sum(A * dA, {1});                               // (3)
  Array dS = A * (dA - xt::view(average, xt::all(), xt::newaxis()));  // (3, 3), (3, 1) a column
  show("dS = A * (dA - rowsum(A * dA))", dS, words, words);
  check_gradient(dS_by_hand, dS, now.S);
  Array row_sums = xt::sum(dS, {1}), hidden = xt::triu(dS, 1);
  check("each row of dS sums to zero", row_sums, zeros({3}));
  check("dS is zero right of the diagonal, to the last bit", hidden, zeros({3, 3}), 0);
  say("", "Rows sum to zero: adding a number to all scores of a row changes no weight. And",
      "dS is 0 where the mask hides: dA of 'cat' for 'sat' is " + decimal(dA(1, 2), 4) +
          ", but that",
      "attention weight stays 0 whatever the score.");
  forward_and_backward(A, dS);

  const auto [dQ, dK] = query_and_key_gradients(now, dS);

  section("The projection matrices and T");
  say("K = T W_K is a matrix product like R = A V, so dW_K = T^T dK. T has three uses:",
      "the gradients of the three accumulate, as in lesson 08.");
  const Array T_transposed = xt::transpose(T.value());  // (5, 3)
  Array dW_K = dot(T_transposed, dK), dW_Q = dot(T_transposed, dQ), dW_V = dot(T_transposed, dV);
  Array dT = dot(dK, xt::transpose(W_K.value())) + dot(dQ, xt::transpose(W_Q.value())) +
             dot(dV, xt::transpose(W_V.value()));  // (3, 4) times (4, 5) is (3, 5), three times
  show("dW_K = T^T dK", dW_K);
  check("dW_K in one line = by the engine", dW_K, W_K.grad());
  check("dW_Q = T^T dQ = by the engine", dW_Q, W_Q.grad());
  check("dW_V = T^T dV = by the engine", dW_V, W_V.grad());
  show("dT = dK W_K^T + dQ W_Q^T + dV W_V^T", dT, words);
  check("in one line = by the engine", dT, T.grad());
  say("", "With the option provenance the engine records the source of each term of a",
      "gradient: the operation, its line in this file, and the norm of the term.");
  show_sources(W_K);
  show_sources(T);
  gradient_descent(T, {W_K, W_Q, W_V}, Tensor(wanted));
  say("", "These matrices fit three words only. Can they learn a rule that holds for new",
      "sentences? Next: 10_attention_head. To step through this lesson: ./heed debug 9", "",
      "  heed step             the first node of the pass, and its upstream gradient",
      "  heed step Softmax     on to A; its upstream gradient is dA",
      "  info args             dA and A",
      "  heed graph            all nodes; => is the current one",
      "  heed step K           on to K = T W_K", "  heed why K            the sources of dK", "",
      "To see the terms of dS: break score_gradient if i == 2, run, next, print sum.");
  questions("In the line of a.S, replace products / 2 by products. Which check fails?",
            "In gradient_descent, replace 0.01 by 0.1. What happens to the loss?",
            "In the second line that changes `wanted`, replace row(V, 1) by row(V, 2): the\n"
            "target of 'sat' is its own value. Which score of 'sat' has the lowest dS?");
}
