// 01 running_mean: the weights of the causal mean, for a text of any length.
//
// Lesson 01 computed all causal means as one matrix product, with weights from xt::tril and row
// sums. Compute these weights with loops, for N tokens: an array (N, N). Its product with any array
// x (N, C) must have in row t the mean of rows 0 to t of x. N may be 1, 2, 3 or 100.

#include "exercise.hpp"

using namespace heed;

Array running_mean_weights(std::size_t N) {
  // Your part begins here.
  Array weights = zeros({N, N});
  for (std::size_t t = 0; t < N; ++t)
    for (std::size_t s = 0; s <= t; ++s) weights(t, s) = 1 / Real(t + 1);
  // Your part ends here.
  return weights;
}
