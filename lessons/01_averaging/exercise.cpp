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
  // Your part ends here.
  return weights;
}
