// The mean of dA is not weighted by the attention weights.
#include "exercise.hpp"

using namespace heed;

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
      for (std::size_t s = 0; s < dA.size(); ++s) mean += dA[s] / Real(dA.size());
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
