// 06 backward_through_attention: the gradients dV, dA, dS, dQ and dK, by hand and by heed.
//
// Before this lesson: 05_autograd, the chain rule for single numbers.
// After it: 07_attention_head, an attention head as a module that can be trained.
// Worth a breakpoint: score_gradient. Go on with `next`: each attention weight adds one term.

#include <utility>

#include "pictures.hpp"

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

// Returns dO.
Array who_sat(const Attention& now, const Array& wanted, const Tensor& loss) {
  section("Who sat?");
  show("A", now.A, words, words);
  show("O", now.O, words);
  say({{"loss", decimal(loss.item(), 4)}});
  Array dO = now.O.value() - wanted;  // (3, 4)
  show("dO = O - target", dO, words);
  check("in one line = by heed", dO, now.O.grad());
  say();
  picture("06_backward_through_attention", "backward", backward_flow());
  return dO;
}

// For y(i, c) = sum over j of a(i, j) b(j, c) and the upstream gradient dy: returns da and db.
std::pair<Array, Array> product_gradients(const Array& a, const Array& b, const Array& dy) {
  Array da = zeros(a.shape()), db = zeros(b.shape());
  for (std::size_t i = 0; i < a.shape(0); ++i)
    for (std::size_t j = 0; j < a.shape(1); ++j)
      for (std::size_t c = 0; c < b.shape(1); ++c) {
        da(i, j) += dy(i, c) * b(j, c);
        db(j, c) += a(i, j) * dy(i, c);
      }
  return {da, db};
}

// Returns dV and dA.
std::pair<Array, Array> value_and_weight_gradients(const Attention& now, const Array& dO) {
  section("Values and weights: dV and dA");
  const Array &A = now.A.value(), &V = now.V.value();
  const auto [dA_by_hand, dV_by_hand] = product_gradients(A, V, dO);
  Array dV = dot(xt::transpose(A), dO);  // (3, 3) times (3, 4) is (3, 4)
  Array dA = dot(dO, xt::transpose(V));  // (3, 4) times (4, 3) is (3, 3)
  show_gradient("dV = A^T dO", dV, dV_by_hand, now.V, words);
  show_gradient("dA = dO V^T", dA, dA_by_hand, now.A, words, words);
  say();
  return {dV, dA};
}

// The derivative of the loss with respect to S(i, j): the sum of dA(i, k) times the derivative of
// A(i, k) with respect to S(i, j), over the attention weights k of row i.
Real score_gradient(const Array& dA, const Array& A, std::size_t i, std::size_t j) {
  Real sum = 0;
  for (std::size_t k = 0; k < A.shape(1); ++k)
    sum += dA(i, k) * A(i, k) * ((k == j ? 1 : 0) - A(i, j));
  return sum;
}

// Returns dS.
Array score_gradients(const Attention& now, const Array& dA, const Array& dO) {
  section("Scores: dS");
  const Array& A = now.A.value();
  Array dS_by_hand = zeros({3, 3});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) dS_by_hand(i, j) = score_gradient(dA, A, i, j);
  Array mean = xt::sum(A * dA, {1}, xt::keep_dims);  // (3, 1), a column
  Array dS = A * (dA - mean);                        // (3, 3)
  show_gradient("dS = A * (dA - rowsum(A * dA))", dS, dS_by_hand, now.S, words, words);
  check("each row of dS sums to zero", xt::sum(dS, {1}), zeros({3}));
  check("dS is zero right of the diagonal, to the last bit", xt::triu(dS, 1), zeros({3, 3}), 0);
  check("rowsum(A * dA) = rowsum(dO * O)", mean, xt::sum(dO * now.O.value(), {1}, xt::keep_dims));
  say();
  picture_of_gradients(A, dA, dS, words);
  say();
  return dS;
}

// Returns dQ and dK.
std::pair<Array, Array> query_and_key_gradients(const Attention& now, const Array& dS) {
  section("Queries and keys: dQ and dK");
  const Array &Q = now.Q.value(), &K = now.K.value();  // (3, 4) both
  const auto [dQ_by_hand, dK_transposed] = product_gradients(Q, xt::transpose(K), dS / 2);
  Array dQ = dot(dS, K) / 2;                 // (3, 3) times (3, 4) is (3, 4)
  Array dK = dot(xt::transpose(dS), Q) / 2;  // (3, 4)
  show_gradient("dQ = dS K / 2", dQ, dQ_by_hand, now.Q, words);
  show_gradient("dK = dS^T Q / 2", dK, xt::transpose(dK_transposed), now.K, words);
  check("sum of the rows of dK = 0", xt::sum(dK, {0}), zeros({4}));
  say();
  return {dQ, dK};
}

// How fast the loss grows if the matrices W move along random ones: by their gradients, and by a
// central difference.
std::pair<Real, Real> growth_of_loss(const Tensor& X, const std::vector<Tensor>& W,
                                     const Tensor& target) {
  Generator g(1);
  std::vector<Array> r;
  Real growth = 0;
  for (const Tensor& w : W) {
    r.push_back(g.randn({5, 4}));
    growth += xt::sum(w.grad() * r.back())();
  }
  const auto loss_at = [&](Real h) {
    std::vector<Tensor> moved;
    for (std::size_t i = 0; i < 3; ++i) moved.emplace_back(W[i].value() + h * r[i]);
    return half_squares(attend(X, moved[0], moved[1], moved[2]).O, target).item();
  };
  return {growth, (loss_at(Real(0.001)) - loss_at(Real(-0.001))) / Real(0.002)};
}

// W has W_K, W_Q and W_V, and dY has dK, dQ and dV.
void projection_gradients(const Tensor& X, const std::vector<Tensor>& W,
                          const std::vector<Array>& dY, const Tensor& target) {
  section("Outer products: dW and dX");
  Array outer_products = zeros({5, 4}), dX = zeros({3, 5});
  for (std::size_t t = 0; t < 3; ++t) {
    const Array token = xt::row(X.value(), t), dk = xt::row(dY[0], t);
    const Array product = xt::linalg::outer(token, dk);  // product(a, c) = token(a) dk(c)
    if (t == 1) show("outer product of 'cat'", product);
    outer_products += product;
  }
  check("dW_K by heed = sum of three outer products", W[0].grad(), outer_products);
  for (std::size_t i = 0; i < 3; ++i) {
    Array dW = dot(xt::transpose(X.value()), dY[i]);  // (5, 3) times (3, 4)
    check("d" + W[i].name() + " in one line = by heed", dW, W[i].grad());
    dX += dot(dY[i], xt::transpose(W[i].value()));  // (3, 4) times (4, 5) is (3, 5)
  }
  say();
  check("dX in one line = by heed", dX, X.grad());
  const auto [growth, measured] = growth_of_loss(X, W, target);
  say({{"growth", decimal(growth, 2)}, {"measured", decimal(measured, 2)}});
  check("central difference / sum of dW * R = 1", scalar(measured / growth), scalar(1), 0.01);
}

// Prints the loss and the attention weight of 'sat' on 'cat' after some steps that change only the
// given ones of W_K, W_Q and W_V (0, 1 and 2), and restores these.
void descend(int steps, const std::vector<std::size_t>& changed, const Tensor& X,
             std::vector<Tensor> W, const Tensor& target) {
  std::vector<Array> first;
  for (const Tensor& w : W) first.push_back(w.value());
  for (int step = 0; step < steps; ++step) {
    for (const Tensor& w : W) w.clear_grad();
    backward(half_squares(attend(X, W[0], W[1], W[2]).O, target));
    for (const std::size_t i : changed) W[i].mutable_value() -= Real(0.01) * W[i].grad();
  }
  const Attention now = attend(X, W[0], W[1], W[2]);
  print_steps(steps, changed, half_squares(now.O, target).item(), now.A.value()(2, 1));
  for (const std::size_t i : changed) W[i].mutable_value() = first[i];
}

void gradient_descent(const Tensor& X, const std::vector<Tensor>& W, const Tensor& target) {
  section("Gradient descent");
  say("steps   changed             loss    weight of 'sat' on 'cat'");
  for (const int steps : {1, 20})
    for (const auto& changed : std::vector<std::vector<std::size_t>>{{2}, {0, 1}, {0, 1, 2}})
      descend(steps, changed, X, W, target);
  say();
}

int main() {
  opening();
  Generator g(42);
  const Tensor X = Tensor(g.randn({3, 5}), /*requires_grad=*/true).set_name("X");
  const Tensor W_K = Tensor(g.randn({5, 4}), true).set_name("W_K");
  const Tensor W_Q = Tensor(g.randn({5, 4}), true).set_name("W_Q");
  const Tensor W_V = Tensor(g.randn({5, 4}), true).set_name("W_V");
  const Attention now = attend(X, W_K, W_Q, W_V);
  const Array wanted = xt::view(now.V.value(), xt::keep(0, 0, 1), xt::all());  // (3, 4)
  const Tensor loss = half_squares(now.O, Tensor(wanted));
  Provenance provenance;  // records the terms of each gradient
  backward(loss, {false, &provenance});

  const Array dO = who_sat(now, wanted, loss);
  const auto [dV, dA] = value_and_weight_gradients(now, dO);
  const Array dS = score_gradients(now, dA, dO);
  const auto [dQ, dK] = query_and_key_gradients(now, dS);
  projection_gradients(X, {W_K, W_Q, W_V}, {dK, dQ, dV}, Tensor(wanted));
  if (appendix("Where each gradient comes from")) show_sources(W_K), show_sources(X);
  gradient_descent(X, {W_K, W_Q, W_V}, Tensor(wanted));
  ending();
}
