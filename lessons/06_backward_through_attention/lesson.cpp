// 06 backward_through_attention: the gradients dV, dA, dS, dQ and dK, by hand and by heed.
//
// Before this lesson: 05_autograd, the chain rule for single numbers.
// After it: 07_attention_head, an attention head as a module that can be trained.
// Worth a breakpoint: score_gradient. Go on with `next`: each attention weight adds one term.

#include "by_hand.hpp"

using namespace heed;
using xt::linalg::dot;

const Names words = {"the", "cat", "sat"};

struct Attention {
  Tensor K, Q, V, S, A, O;
};

// The attention of lesson 04, with all intermediate results.
Attention attend(const Tensor& X, const Tensor& W_K, const Tensor& W_Q, const Tensor& W_V) {
  Attention a;
  a.K = matmul(X, W_K).set_name("K");  // (3, 5) times (5, 4) is (3, 4)
  a.Q = matmul(X, W_Q).set_name("Q");
  a.V = matmul(X, W_V).set_name("V");
  const Tensor products = matmul(a.Q, transpose(a.K, 0, 1)).set_name("Q K^T");  // (3, 3)
  a.S = masked_fill(products / 2, future_mask(3), -INFINITY).set_name("S");     // 2 is sqrt(4)
  a.A = softmax(a.S, -1).set_name("A");
  a.O = matmul(a.A, a.V).set_name("O");  // (3, 3) times (3, 4) is (3, 4)
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

std::pair<Array, Array> value_and_weight_gradients(const Attention& now, const Array& dO) {
  section("O = A V: dV and dA");
  say("O(i, c) = sum over j of A(i, j) V(j, c). Its derivative with respect to V(j, c)",
      "is A(i, j), and with respect to A(i, j) it is V(j, c). Each V(j, c) is used in",
      "every row i of O, and each A(i, j) in every column c. By the chain rule", "",
      "  dV(j, c) = sum over i of A(i, j) dO(i, c)    so dV = A^T dO",
      "  dA(i, j) = sum over c of dO(i, c) V(j, c)    so dA = dO V^T");
  const Array &A = now.A.value(), &V = now.V.value();
  const auto [dV_by_hand, dA_by_hand] = weighted_sum_gradients(A, V, dO);
  Array dV = dot(xt::transpose(A), dO);  // (3, 3) times (3, 4) is (3, 4)
  Array dA = dot(dO, xt::transpose(V));  // (3, 4) times (4, 3) is (3, 3)
  show_gradient("dV = A^T dO", dV, dV_by_hand, now.V, words);
  show_gradient("dA = dO V^T", dA, dA_by_hand, now.A, words, words);
  return {dV, dA};
}

Array score_gradients(const Attention& now, const Array& dA, const Array& dO) {
  section("A = softmax(S): dS");
  say("dS says which scores to change: where it is negative, a larger score reduces the",
      "loss. For a small h, e^h is about 1 + h, and 1 / (1 + h) is about 1 - h. (The",
      "other terms have h^2 or higher powers: divided by h, they vanish as h approaches",
      "0.) Let Z be the sum of e^S_k over one row, so A_k = e^S_k / Z. If S_j grows by",
      "h, e^S_j becomes e^S_j (1 + h), and Z becomes Z (1 + h A_j). Then", "",
      "  A_k becomes A_k / (1 + h A_j), about A_k - h A_k A_j, if k is not j",
      "  A_j becomes A_j (1 + h) / (1 + h A_j), about A_j + h A_j - h A_j A_j", "",
      "These changes divided by h are the derivatives of A_k with respect to S_j.",
      "Multiply each by dA_k and add them (by hand: score_gradient):", "",
      "  dS_j = dA_j A_j - A_j * (sum of dA_k A_k over k) = A_j * (dA_j - the sum)", "",
      "The sum is a mean of the row of dA, weighted by A: rowsum(A * dA).");
  const Array& A = now.A.value();
  Array dS_by_hand = zeros({3, 3});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) dS_by_hand(i, j) = score_gradient(dA, A, i, j);
  Array average = xt::sum(A * dA, {1});                               // (3)
  Array dS = A * (dA - xt::view(average, xt::all(), xt::newaxis()));  // (3, 3), (3, 1) a column
  show_gradient("dS = A * (dA - rowsum(A * dA))", dS, dS_by_hand, now.S, words, words);
  check("rowsum(A * dA) = rowsum(dO * O)", average, Array(xt::sum(dO * now.O.value(), {1})));
  check("each row of dS sums to zero", Array(xt::sum(dS, {1})), zeros({3}));
  check("dS is zero right of the diagonal, to the last bit", Array(xt::triu(dS, 1)), zeros({3, 3}),
        0);
  say("", "rowsum(A * dA) = rowsum(dO * O), because", "",
      "  sum_j A_ij dA_ij = sum_j A_ij sum_c dO_ic V_jc = sum_c dO_ic O_ic", "",
      "FlashAttention's backward uses this: it never stores the whole A, but computes",
      "parts of it again. Each row of dS sums to zero: a number added to all scores of",
      "a row changes no weight. The weight of 'cat' for the masked 'sat' is 0 for all",
      "scores, so this dS is 0, although dA is not. 'sat' should attend more to 'cat',",
      "whose dS is negative, and less to 'the'.");
  return dS;
}

std::pair<Array, Array> query_and_key_gradients(const Attention& now, const Array& dS) {
  section("S = Q K^T / 2: dQ and dK");
  say("S(i, j) = sum over c of Q(i, c) K(j, c) / 2, where 2 is the root of d_k = 4. Its",
      "derivative with respect to Q(i, c) is K(j, c) / 2, and with respect to K(j, c)",
      "it is Q(i, c) / 2. Q(i, c) is used for every j, and K(j, c) for every i:", "",
      "  dQ(i, c) = sum over j of dS(i, j) K(j, c) / 2    so dQ = dS K / 2",
      "  dK(j, c) = sum over i of dS(i, j) Q(i, c) / 2    so dK = dS^T Q / 2");
  const Array &Q = now.Q.value(), &K = now.K.value();  // (3, 4) both
  const auto [dQ_by_hand, dK_by_hand] = dot_product_gradients(Q, K, dS);
  Array dQ = dot(dS, K) / 2;                 // (3, 3) times (3, 4) is (3, 4)
  Array dK = dot(xt::transpose(dS), Q) / 2;  // (3, 4)
  show_gradient("dQ = dS K / 2", dQ, dQ_by_hand, now.Q, words);
  show_gradient("dK = dS^T Q / 2", dK, dK_by_hand, now.K, words);
  say("", "A vector v added to all keys adds q.v / 2 to all scores of a query q, which",
      "changes no attention weight. So the rows of dK sum to zero:");
  check("sum of the rows of dK = 0", Array(xt::sum(dK, {0})), zeros({4}));
  return {dQ, dK};
}

void show_sources(const Tensor& x) {
  say("", "the gradient of " + x.name());
  for (const Contribution& part : contributions(x))
    say("  += from " + part.op + " '" + part.name + "', " + str(part.location) + ", norm " +
        decimal(part.norm, 4));
}

void gradient_descent(const Tensor& X, const std::vector<Tensor>& W, const Tensor& target) {
  section("Gradient descent");
  say("Now twenty gradient descent steps change W_K, W_Q and W_V, with learning rate",
      "0.01. The target stays as printed above, although V changes:", "",
      "step    loss    attention weight of 'sat' on 'cat'");
  for (int step = 0; step <= 20; ++step) {
    const Attention now = attend(X, W[0], W[1], W[2]);
    const Tensor loss = half_squares(now.O, target);
    if (step < 3 || step % 10 == 0)
      say(pad_left(std::to_string(step), 4) + "  " + decimal(loss.item(), 4) + "    " +
          decimal(now.A.value()(2, 1), 4));
    for (Tensor w : W) w.clear_grad();
    backward(loss);
    for (Tensor w : W) w.mutable_value() -= Real(0.01) * w.grad();
  }
}

int main() {
  opening({"to derive every gradient of attention, and to compute it by hand",
           "S = Q K^T / sqrt(d_k), later keys -inf; A = softmax(S), O = A V\n"
           "dV = A^T dO, dA = dO V^T, dS = A * (dA - rowsum(A * dA)),\n"
           "dQ = dS K / sqrt(d_k), dK = dS^T Q / sqrt(d_k)   (* is elementwise)\n"
           "Q, K, V, O and their gradients (3, 4), S, A, dS, dA (3, 3), d_k = 4",
           "Dao et al. 2022, FlashAttention: Fast and Memory-Efficient Exact\n"
           "Attention with IO-Awareness, appendix B.2",
           "Tensor.backward, Tensor.grad, Tensor.retain_grad"});
  section("Output and loss");
  say("Lesson 05's backward computes every gradient. Derive those of attention by hand",
      "once: then you can find a wrong gradient and tell why a gradient is small. These",
      "are the attention weights A and output O of lesson 04:");
  Generator g(42);
  const Tensor X = Tensor(g.randn({3, 5}), /*requires_grad=*/true).set_name("X");
  const Tensor W_K = Tensor(g.randn({5, 4}), true).set_name("W_K");
  const Tensor W_Q = Tensor(g.randn({5, 4}), true).set_name("W_Q");
  const Tensor W_V = Tensor(g.randn({5, 4}), true).set_name("W_V");
  const Attention now = attend(X, W_K, W_Q, W_V);
  const Array& V = now.V.value();  // (3, 4)
  show("A", now.A, words, words);
  show("O", now.O, words);
  say("", "Who sat? The cat. So the target of 'sat' is the value of 'cat'. The target of",
      "'the' and 'cat' is the value of 'the'. The target is a copy of these numbers: a",
      "constant. The loss is half the sum of the squared differences between O and the",
      "target, because its derivative is simple (next section).");
  Array wanted = V;  // (3, 4), to be V's rows 0, 0 and 1
  xt::row(wanted, 1) = xt::row(V, 0);
  xt::row(wanted, 2) = xt::row(V, 1);
  const Tensor loss = half_squares(now.O, Tensor(wanted));
  show("target", wanted, words);
  say("", "loss  " + decimal(loss.item(), 4));
  Provenance provenance;  // records the terms of each gradient
  const BackwardOptions options{false, &provenance};
  backward(loss, options);
  section("The upstream gradient dO");
  say("For any array Y, dY is short for the gradient of the loss with respect to Y, and",
      "has Y's shape. An operation gets the gradient of its output, the UPSTREAM",
      "GRADIENT, and computes the gradients of its inputs. The derivative of x^2 / 2 is",
      "x, so dO = O - target. From dO follow dV, dA, dS, dQ and dK:");
  picture("06_backward_through_attention", "backward", backward_flow());
  Array dO = now.O.value() - wanted;  // (3, 4)
  show("dO = O - target", dO, words);
  check("in one line = by heed", dO, now.O.grad());
  const auto [dV, dA] = value_and_weight_gradients(now, dO);
  const Array dS = score_gradients(now, dA, dO);
  const auto [dQ, dK] = query_and_key_gradients(now, dS);
  projection_gradients({W_K, W_Q, W_V}, {dK, dQ, dV}, X, words);
  compare_with_central_difference(
      [&](const Tensor& W) { return half_squares(attend(X, W_K, W, W_V).O, Tensor(wanted)); }, W_Q);
  say("", "Provenance records each term of a gradient: operation, line, norm.");
  show_sources(W_K);
  show_sources(X);
  gradient_descent(X, {W_K, W_Q, W_V}, Tensor(wanted));
  say("", "These matrices fit three words only. The next lesson trains a head for new",
      "sentences: 07_attention_head. To step through this lesson: ./heed debug 6", "",
      "  heed step             the first node of the pass, and its upstream gradient",
      "  heed step Softmax     on to A; `info args` prints dA and A",
      "  heed graph            all nodes; => is the current one",
      "  heed step K           on to K = X W_K; then `heed why K`: the sources of dK", "",
      "The terms of dS: `break score_gradient if i == 2`, `run`, `next`, `print sum`.");
  questions("In the line of a.S, replace products / 2 by products. Which check fails?",
            "In gradient_descent, replace 0.01 by 0.1. What happens to the loss?",
            "In the second line that changes `wanted`, replace row(V, 1) by row(V, 2): the\n"
            "target of 'sat' is its own value. Which score of 'sat' has the lowest dS?");
}
