// 04b attention_end_to_end: one causal attention head, from the token vectors to its output.
//
// X (T, d) contains one token vector per row. Compute, in this order:
//
//   Q = X W_Q, K = X W_K    W_Q and W_K are (d, d_k), Q and K are (T, d_k)
//   V = X W_V               W_V is (d, d_v), V is (T, d_v)
//   S = Q K^T / sqrt(d_k)   the scores, (T, T): rows query, columns key positions
//   A = softmax of S        the attention weights, (T, T): query t attends to the keys 0 to t
//   output = A V            (T, d_v)
//
// Use loops or xtensor (xt::linalg::dot, xt::transpose), but no attention function of heed. Scores
// may be as large as 100000 and as small as -100000. If a later token is replaced by any other
// finite vector, no bit of an earlier row of the output may change. In general d, d_k, d_v and T
// all differ.
//
// Before your changes, each token attends to itself only: the output is V.

#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
// The attention weights of query t: e^(score - maximum) / sum, over the keys 0 to t.
std::vector<Real> weights_of_query(std::size_t t, const Array& Q, const Array& K) {
  std::vector<Real> weights(t + 1, 0);
  for (std::size_t s = 0; s <= t; ++s) {
    for (std::size_t i = 0; i < K.shape(1); ++i) weights[s] += Q(t, i) * K(s, i);
    weights[s] /= std::sqrt(Real(K.shape(1)));
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
    const std::vector<Real> weights = weights_of_query(t, Q, K);
    for (std::size_t s = 0; s <= t; ++s)
      for (std::size_t i = 0; i < V.shape(1); ++i) output(t, i) += weights[s] * V(s, i);
  }
  return output;
}
// Your part ends here.
