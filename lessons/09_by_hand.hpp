// 09_by_hand.hpp: gradients of matrix products, and the graph of the backward pass.
#pragma once

#include <utility>

#include "lesson.hpp"

namespace heed {

// Prints a gradient and compares it with the same by hand and with heed's.
inline void show_gradient(const std::string& title, const Array& gradient, const Array& by_hand,
                          const Tensor& x, const Names& words, const Names& columns = {}) {
  show(title, gradient, words, columns);
  check("by hand = in one line", by_hand, gradient);
  check("in one line = by heed", gradient, x.grad());
}

// O(i, c) is the sum of A(i, j) V(j, c) over j. Returns dV and dA.
inline std::pair<Array, Array> weighted_sum_gradients(const Array& A, const Array& V,
                                                      const Array& dO) {
  Array dV = zeros({3, 4}), dA = zeros({3, 3});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t c = 0; c < 4; ++c) {
        dV(j, c) += A(i, j) * dO(i, c);
        dA(i, j) += dO(i, c) * V(j, c);
      }
  return {dV, dA};
}

// S(i, j) is the sum of Q(i, c) K(j, c) / 2 over c. Returns dQ and dK.
inline std::pair<Array, Array> dot_product_gradients(const Array& Q, const Array& K,
                                                     const Array& dS) {
  Array dQ = zeros({3, 4}), dK = zeros({3, 4});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t c = 0; c < 4; ++c) {
        dQ(i, c) += dS(i, j) * K(j, c) / 2;
        dK(j, c) += dS(i, j) * Q(i, c) / 2;
      }
  return {dQ, dK};
}

// W contains W_K, W_Q and W_V, gradients contains dK, dQ and dV.
inline void projection_gradients(const std::vector<Tensor>& W, const std::vector<Array>& gradients,
                                 const Tensor& X, const Names& words) {
  section("The projection matrices and X");
  say("K = X W_K is a matrix product like O = A V, so dW_K = X^T dK. In outer-product",
      "form (lesson 03) it is a sum over the tokens: each adds the outer product of its",
      "embedding and its row of dK. X is used three times, for K, Q and V, so dX is a",
      "sum of three terms. In a larger model dX is the upstream gradient of what",
      "computed X, such as another layer.");
  show("dW_K = X^T dK", xt::linalg::dot(xt::transpose(X.value()), gradients[0]));
  Array outer_products = zeros({5, 4});
  for (std::size_t t = 0; t < 3; ++t) {
    const Array token = xt::row(X.value(), t), dk = xt::row(gradients[0], t);
    outer_products += xt::linalg::outer(token, dk);
  }
  check("dW_K = sum of three outer products", outer_products,
        xt::linalg::dot(xt::transpose(X.value()), gradients[0]));
  Array dX = zeros({3, 5});
  for (std::size_t i = 0; i < 3; ++i) {
    const Array dW =
        xt::linalg::dot(xt::transpose(X.value()), gradients[i]);  // (5, 3) times (3, 4)
    check("d" + W[i].name() + " in one line = by heed", dW, W[i].grad());
    dX += xt::linalg::dot(gradients[i],
                          xt::transpose(W[i].value()));  // (3, 4) times (4, 5) is (3, 5)
  }
  show("dX = dK W_K^T + dQ W_Q^T + dV W_V^T", dX, words);
  check("in one line = by heed", dX, X.grad());
}

// The backward pass in Graphviz's language. Each edge is labelled with the formula that computes
// its end.
inline const std::string backward_flow = R"dot(digraph {
  rankdir=LR
  node [shape=box, style=rounded, fontname="sans-serif"]
  edge [color="#0072B2", fontname="sans-serif", fontsize=11]
  dO [label="dO (3, 4)"]  dA [label="dA (3, 3)"]  dS [label="dS (3, 3)"]
  dV [label="dV (3, 4)"]  dQ [label="dQ (3, 4)"]  dK [label="dK (3, 4)"]
  dX [label="dX (3, 5)"]  dW_V [label="dW_V (5, 4)"]  dW_Q [label="dW_Q (5, 4)"]  dW_K [label="dW_K (5, 4)"]
  loss -> dO [label="O - target"]
  dO -> dV [label="A^T dO"]
  dO -> dA [label="dO V^T"]
  dA -> dS [label="A * (dA - rowsum(A * dA))"]
  dS -> dQ [label="dS K / 2"]
  dS -> dK [label="dS^T Q / 2"]
  dV -> dW_V [label="X^T dV"]
  dQ -> dW_Q [label="X^T dQ"]
  dK -> dW_K [label="X^T dK"]
  dV -> dX [label="dV W_V^T"]
  dQ -> dX [label="+ dQ W_Q^T"]
  dK -> dX [label="+ dK W_K^T"]
})dot";

}  // namespace heed
