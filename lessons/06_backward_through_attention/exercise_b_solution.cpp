// 06b dq_and_dk: the gradients of queries and keys, from the gradient of the output.
//
// The forward pass, for each of B sentences, with T queries and S keys:
//
//   scores = scale * Q K^T, some of them masked      Q (B, T, d_k), K (B, S, d_k), scores (B, T, S)
//   A = softmax of each row of scores                (B, T, S)
//   O = A V                                          V (B, S, d_v), O (B, T, d_v)
//
// You get Q, K, V, A, the factor `scale`, and the upstream gradient dO (B, T, d_v): the gradient of
// the loss with respect to O. Return dQ (B, T, d_k) and dK (B, S, d_k), in this order. Derive them
// step by step, as lesson 06 does: dA, then dS, then dQ and dK. B, T, S, d_k and d_v all differ,
// and `scale` need not be 1 / sqrt(d_k).
//
// A masked key has the attention weight 0. If all keys of a query are masked, all its attention
// weights are 0. As handed out, all gradients are zero.

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
// dA(b, t, s) for all keys s: (S).
std::vector<Real> weight_gradients(std::size_t b, std::size_t t, const Array& V, const Array& dO) {
  std::vector<Real> dA(V.shape(1), 0);
  for (std::size_t s = 0; s < V.shape(1); ++s)
    for (std::size_t i = 0; i < V.shape(2); ++i) dA[s] += dO(b, t, i) * V(b, s, i);
  return dA;
}

std::vector<Array> query_and_key_gradients(const Array& Q, const Array& K, const Array& V,
                                           const Array& A, double scale, const Array& dO) {
  Array dQ = zeros(Q.shape()), dK = zeros(K.shape());
  for (std::size_t b = 0; b < Q.shape(0); ++b)
    for (std::size_t t = 0; t < Q.shape(1); ++t) {
      const std::vector<Real> dA = weight_gradients(b, t, V, dO);
      Real mean = 0;
      for (std::size_t s = 0; s < dA.size(); ++s) mean += A(b, t, s) * dA[s];
      for (std::size_t s = 0; s < dA.size(); ++s) {
        const Real dS = A(b, t, s) * (dA[s] - mean) * Real(scale);
        for (std::size_t i = 0; i < K.shape(2); ++i) {
          dQ(b, t, i) += dS * K(b, s, i);
          dK(b, s, i) += dS * Q(b, t, i);
        }
      }
    }
  return {dQ, dK};
}
// Your part ends here.
