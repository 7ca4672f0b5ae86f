// 09_by_hand.hpp: gradients of matrix products by hand, and the graph of the backward pass.
#pragma once

#include <utility>

#include "lesson.hpp"

namespace heed {

// R(i, d) is the sum of A(i, j) V(j, d) over j. Returns dV and dA.
inline std::pair<Array, Array> weighted_sum_gradients(const Array& A, const Array& V,
                                                      const Array& dR) {
  Array dV = zeros({3, 4}), dA = zeros({3, 3});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t d = 0; d < 4; ++d) {
        dV(j, d) += A(i, j) * dR(i, d);
        dA(i, j) += dR(i, d) * V(j, d);
      }
  return {dV, dA};
}

// S(i, j) is the sum of Q(i, d) K(j, d) / 2 over d. Returns dQ and dK.
inline std::pair<Array, Array> dot_product_gradients(const Array& Q, const Array& K,
                                                     const Array& dS) {
  Array dQ = zeros({3, 4}), dK = zeros({3, 4});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t d = 0; d < 4; ++d) {
        dQ(i, d) += dS(i, j) * K(j, d) / 2;
        dK(j, d) += dS(i, j) * Q(i, d) / 2;
      }
  return {dQ, dK};
}

// The backward pass in Graphviz's language. Each edge is labelled with the formula that computes
// its end.
inline const std::string backward_flow = R"dot(digraph {
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

}  // namespace heed
