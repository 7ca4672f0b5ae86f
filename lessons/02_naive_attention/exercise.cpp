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
bool is_convex(const Array& weights) { return weights.size() > 0; }

Array outputs(const Array& weights, const Array& X) {
  return zeros({weights.shape(0), X.shape(1)});
}
// Your part ends here.
