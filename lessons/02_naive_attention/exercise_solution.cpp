// 02 convex_weights: which weights are convex, and the outputs that weights give.
//
// Lesson 02: an output is a convex combination if no weight is negative and the weights sum to one.
// Write two functions. `is_convex` says whether *every* row of the weights (N, T) is convex; sums
// of floats are rounded, so allow a row sum a distance of 0.00001 from one. `outputs` returns the
// array (N, C) whose row i is the sum, over all tokens j, of weights(i, j) times row j of X (T, C).
// N need not be T. Weights that are not numbers (NaN) are not convex.

#include <cmath>

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
bool is_convex(const Array& weights) {
  for (std::size_t i = 0; i < weights.shape(0); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < weights.shape(1); ++j) {
      if (!(weights(i, j) >= 0)) return false;
      sum += weights(i, j);
    }
    if (!(std::abs(sum - 1) <= 1e-5)) return false;
  }
  return true;
}

Array outputs(const Array& weights, const Array& X) {
  Array result = zeros({weights.shape(0), X.shape(1)});
  for (std::size_t i = 0; i < weights.shape(0); ++i)
    for (std::size_t j = 0; j < weights.shape(1); ++j)
      for (std::size_t c = 0; c < X.shape(1); ++c) result(i, c) += weights(i, j) * X(j, c);
  return result;
}
// Your part ends here.
