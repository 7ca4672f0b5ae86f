// 1 / (t + 1) is a division of integers: 0 in every row but the first.
#include "exercise.hpp"

using namespace heed;

Array running_mean_weights(std::size_t N) {
  Array weights = zeros({N, N});
  for (std::size_t t = 0; t < N; ++t)
    for (std::size_t s = 0; s <= t; ++s) weights(t, s) = Real(1 / (t + 1));
  return weights;
}
