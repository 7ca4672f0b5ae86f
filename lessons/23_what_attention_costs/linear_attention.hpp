// linear_attention.hpp: linear attention as a matrix product and as a recurrence, for lesson 23.
#pragma once

#include <cmath>

#include "lesson.hpp"

namespace heed {

// The feature map phi(x) = elu(x) + 1: x + 1 above 0, e^x below. It is always positive.
inline Tensor phi(const Tensor& x) { return relu(x) + exp(-relu(-x)); }
inline double phi(double x) { return double(phi(Tensor(scalar(Real(x)))).item()); }

// The weights phi(q_t) . phi(k_s), divided by their sum: Q (..., T, D) and K (..., S, D) give
// (..., T, S). A causal query attends to the keys 0 to t.
inline Tensor linear_weights(const Tensor& Q, const Tensor& K, bool causal) {
  const Tensor products = matmul(phi(Q), transpose(phi(K), -1, -2));
  const Tensor allowed = causal ? tril(products) : products;
  return allowed / sum(allowed, {-1}, /*keepdim=*/true);
}

// Without a mask: phi(Q) (phi(K)^T V), divided by phi(Q) (phi(K)^T 1). The matrix (T, S) is not
// needed, because a product of three matrices may begin with the last two.
inline Tensor linear_attention(const Tensor& Q, const Tensor& K, const Tensor& V) {
  const Tensor features = phi(Q), keys = transpose(phi(K), -1, -2);  // (..., T, D), (..., D, S)
  return matmul(features, matmul(keys, V)) / matmul(features, sum(keys, {-1}, /*keepdim=*/true));
}

// What linear attention keeps of the tokens so far: S (D, D_v) and z (D).
struct LinearState {
  LinearState(std::size_t D, std::size_t D_v) : S(zeros({D, D_v})), z(zeros({D})) {}
  Array S, z;
};

// The causal outputs (n, D_v), token by token: S += phi(k) v^T, z += phi(k),
// output = phi(q)^T S / (phi(q) . z).
inline Array linear_by_hand(const Array& Q, const Array& K, const Array& V, LinearState& state) {
  Array outputs = zeros(V.shape());
  for (std::size_t t = 0; t < Q.shape(0); ++t) {
    double divisor = 0;
    for (std::size_t i = 0; i < Q.shape(1); ++i) {
      const double key = phi(double(K(t, i))), query = phi(double(Q(t, i)));
      state.z(i) += Real(key);
      divisor += query * double(state.z(i));
      for (std::size_t d = 0; d < V.shape(1); ++d) {
        state.S(i, d) += Real(key * double(V(t, d)));
        outputs(t, d) += Real(query * double(state.S(i, d)));
      }
    }
    for (std::size_t d = 0; d < V.shape(1); ++d) outputs(t, d) /= Real(divisor);
  }
  return outputs;
}

}  // namespace heed
