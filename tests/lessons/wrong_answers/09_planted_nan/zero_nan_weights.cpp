// Replaces every NaN among the attention weights by zero, also one that comes from Q or K.
#include <algorithm>
#include <cmath>

#include "exercise.hpp"
#include "heed/ops/mask.hpp"

using namespace heed;
using xt::linalg::dot;

// The softmax of each row of scores.
Array softmax_rows(const Array& scores) {
  Array weights = zeros({scores.shape(0), scores.shape(1)});
  for (std::size_t i = 0; i < scores.shape(0); ++i) {
    Real maximum = -INFINITY, sum = 0;
    std::size_t keys = 0;  // that are not masked
    for (std::size_t j = 0; j < scores.shape(1); ++j) {
      if (scores(i, j) != -INFINITY) ++keys;
      maximum = std::max(maximum, scores(i, j));
    }
    for (std::size_t j = 0; j < scores.shape(1); ++j) {
      weights(i, j) = std::exp(scores(i, j) - maximum);  // at most exp(0): no overflow
      sum += weights(i, j);
    }
    for (std::size_t j = 0; j < scores.shape(1); ++j) {
      weights(i, j) /= sum;
      if (std::isnan(weights(i, j))) weights(i, j) = 0;
    }
  }
  return weights;
}

// Q and K (N, D) give the attention weights A (N, N): rows query, columns key position.
Array masked_attention_weights(const Array& Q, const Array& K, const Mask& mask) {
  Array scores = dot(Q, xt::transpose(K)) / std::sqrt(Real(Q.shape(1)));
  for (std::size_t i = 0; i < scores.shape(0); ++i)
    for (std::size_t j = 0; j < scores.shape(1); ++j)
      if (mask(i, j)) scores(i, j) = -INFINITY;
  return softmax_rows(scores);
}

// The output O = A V, (N, D). The weights of a padding token are zero, so its output is zero.
Array attention_output(const Array& Q, const Array& K, const Array& V, const Mask& mask) {
  return dot(masked_attention_weights(Q, K, mask), V);
}

// dQ, dK and dV for the upstream gradient dO (N, D).
std::vector<Array> gradients(const Array& Q, const Array& K, const Array& V, const Mask& mask,
                             const Array& dO) {
  const Real root = std::sqrt(Real(Q.shape(1)));
  Array A = masked_attention_weights(Q, K, mask);
  Array dV = dot(xt::transpose(A), dO), dA = dot(dO, xt::transpose(V));
  Array average = xt::sum(A * dA, {1});
  Array dS = A * (dA - xt::view(average, xt::all(), xt::newaxis()));
  Array dQ = dot(dS, K) / root, dK = dot(xt::transpose(dS), Q) / root;
  return {dQ, dK, dV};
}
