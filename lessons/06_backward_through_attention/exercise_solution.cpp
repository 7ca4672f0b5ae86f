// 06 planted_nan: a query without any key, and gradients that are NaN.
//
// Below is lesson 06's attention by hand, forward and backward. mask (N, N) is true where query i
// must not attend to key j. (In lesson 03, 1 meant that it may.) Padding makes the sentences of a
// batch equally long. The whole row of a padding token is masked, and its output must be zero.
// attention_output sets this zero itself, so the output is right. Yet the padding token's row of
// dQ, and all of dK and dV, are NaN.
//
// Find where the first NaN is made, and repair the code there. Do not replace NaN by zero wherever
// it appears: a NaN in Q, K, V or dO must lead to NaN in the results, since otherwise a fault of
// the caller remains hidden. In gdb, with ./heed debug exercise 6, arrays print as matrices: stop
// in a function, step on, print them.

#include <algorithm>
#include <cmath>

#include "exercise.hpp"
#include "heed/ops/mask.hpp"

using namespace heed;
using xt::linalg::dot;

// Your part begins here.
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
    if (keys == 0) continue;  // the weights of this row stay zero
    for (std::size_t j = 0; j < scores.shape(1); ++j) {
      weights(i, j) = std::exp(scores(i, j) - maximum);  // at most exp(0): no overflow
      sum += weights(i, j);
    }
    for (std::size_t j = 0; j < scores.shape(1); ++j) weights(i, j) /= sum;
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
// Your part ends here.
