// The scores are divided by sqrt(d_v) in place of sqrt(d_k).
#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;

// The attention weights of query t: e^(score - maximum) / sum, over the keys 0 to t.
std::vector<Real> weights_of_query(std::size_t t, const Array& Q, const Array& K, std::size_t d_v) {
  std::vector<Real> weights(t + 1, 0);
  for (std::size_t s = 0; s <= t; ++s) {
    for (std::size_t i = 0; i < K.shape(1); ++i) weights[s] += Q(t, i) * K(s, i);
    weights[s] /= std::sqrt(Real(d_v));
  }
  const Real maximum = *std::max_element(weights.begin(), weights.end());
  Real sum = 0;
  for (Real& weight : weights) sum += weight = std::exp(weight - maximum);
  for (Real& weight : weights) weight /= sum;
  return weights;
}

Array attention_head(const Array& X, const Array& W_Q, const Array& W_K, const Array& W_V) {
  const Array Q = xt::linalg::dot(X, W_Q), K = xt::linalg::dot(X, W_K);  // (T, d_k)
  const Array V = xt::linalg::dot(X, W_V);                               // (T, d_v)
  Array output = zeros({V.shape(0), V.shape(1)});
  for (std::size_t t = 0; t < V.shape(0); ++t) {
    const std::vector<Real> weights = weights_of_query(t, Q, K, V.shape(1));
    for (std::size_t s = 0; s <= t; ++s)
      for (std::size_t i = 0; i < V.shape(1); ++i) output(t, i) += weights[s] * V(s, i);
  }
  return output;
}
