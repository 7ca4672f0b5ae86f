// by_hand.hpp: gradients of matrix products, and the graph of the backward pass.
#pragma once

#include <cmath>
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
      "form (lesson 02) it is a sum over the tokens: each adds the outer product of its",
      "embedding and its row of dK. X is used three times, for K, Q and V. By the chain",
      "rule each use adds a term to dX. In a larger model dX is the upstream gradient",
      "of what computed X, such as another layer.");
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

// Compares the largest element of W.grad() with a central difference of the loss.
template <class Loss>  // from a matrix of W's shape to a Tensor of one number
void compare_with_central_difference(const Loss& loss, const Tensor& W) {
  const Array gradient = W.grad();
  std::size_t i = 0;
  for (std::size_t k = 1; k < gradient.size(); ++k)
    if (std::abs(gradient.data()[k]) > std::abs(gradient.data()[i])) i = k;
  Array high = W.value(), low = W.value();
  high.data()[i] += Real(0.01), low.data()[i] -= Real(0.01);
  const Real h = (high.data()[i] - low.data()[i]) / 2;
  const Real measured = (loss(Tensor(high)).item() - loss(Tensor(low)).item()) / (2 * h);
  say("", "heed uses the same formulas, so it is no independent test of them. A central",
      "difference (lesson 05) is one: change the element of W_Q with the largest",
      "gradient by 0.01 in both directions, and compute only the loss.");
  say("", "  central difference " + decimal(measured, 4) + ", gradient " +
              decimal(gradient.data()[i], 4));
  check("central difference / gradient = 1", scalar(measured / gradient.data()[i]), scalar(1),
        0.001);
}

// The backward pass in Graphviz's language. Each edge is labelled with the formula that computes
// its end, and below it with the array of the forward pass in this formula.
inline std::string backward_flow() {
  std::string dot = R"dot(digraph {
  label=<<font point-size="20">The backward pass: what each gradient is computed from</font><br/>
    <font color="#C04A00">orange: the array of the forward pass in the formula</font><br/> >
  labelloc=t fontname="sans-serif" fontsize=16 nodesep=0.5 ranksep=0.45
  node [shape=box style="rounded,filled" fillcolor="#EAF3FA" color="#0072B2"]
  node [fontname="sans-serif" fontsize=17]
  edge [color="#0072B2" fontname="sans-serif" fontsize=16]
  loss [fillcolor=white]
  dO [label="dO (3, 4)"]  dA [label="dA (3, 3)"]  dS [label="dS (3, 3)"]
  dV [label="dV (3, 4)"]  dQ [label="dQ (3, 4)"]  dK [label="dK (3, 4)"]
  dW_V [label="dW_V (5, 4)"]  dW_Q [label="dW_Q (5, 4)"]  dW_K [label="dW_K (5, 4)"]
  dX [label="dX (3, 5)"]
  {rank=same dV dK dQ}
  {rank=same dW_V dW_K dW_Q}
  dW_K -> dX [style=invis]
)dot";
  const auto edge = [&](const std::string& from, const std::string& to, const std::string& formula,
                        const std::string& array) {
    dot += "  " + from + " -> " + to + " [label=<<table border=\"0\" cellspacing=\"0\"" +
           " cellpadding=\"1\"><tr><td width=\"12\"></td><td>" + formula +
           "</td></tr><tr><td></td><td><font color=\"#C04A00\">" + array +
           "</font></td></tr></table>>]\n";
  };
  edge("loss", "dO", "O - target", "O");
  edge("dO", "dV", "A^T dO", "A"), edge("dO", "dA", "dO V^T", "V");
  edge("dA", "dS", "A * (dA - rowsum(A * dA))", "A");
  edge("dS", "dK", "dS^T Q / 2", "Q"), edge("dS", "dQ", "dS K / 2", "K");
  edge("dV", "dW_V", "X^T dV", "X"), edge("dV", "dX", "dV W_V^T", "W_V");
  edge("dK", "dW_K", "X^T dK", "X"), edge("dK", "dX", "+ dK W_K^T", "W_K");
  edge("dQ", "dW_Q", "X^T dQ", "X"), edge("dQ", "dX", "+ dQ W_Q^T", "W_Q");
  return dot + "}\n";
}

}  // namespace heed
