// 01 running_mean: the causal weights of lesson 01, for a text of any length.
//
// Lesson 01 took the running mean of three tokens as one product of matrices, and wrote the nine
// weights down. Write them for N tokens: an array (N, N) whose product with any x (N, C) has in row
// t the mean of x's rows 0 to t. N may be 1, 2, 3, 100.
// Hint: How many tokens does row t listen to? Each of them counts the same.
// Hint: Two loops: t over the rows, s over the tokens that t listens to.
// Hint: 1 / (t + 1) of whole numbers is 0 in C++ for every t above 0; 1 / Real(t + 1) is not.

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
