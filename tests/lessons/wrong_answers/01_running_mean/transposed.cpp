// The weights are transposed: columns sum to one, and each position uses the later ones.
#include "exercise.hpp"

using namespace heed;

Array running_mean_weights(std::size_t N) {
  Array weights = zeros({N, N});
  for (std::size_t t = 0; t < N; ++t)
    for (std::size_t s = 0; s <= t; ++s) weights(s, t) = 1 / Real(t + 1);
  return weights;
}
