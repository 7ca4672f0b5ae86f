// Every row has the weights 1 / N of the last row, cut off after position t.
#include "exercise.hpp"

using namespace heed;

Array running_mean_weights(std::size_t N) {
  Array weights = zeros({N, N});
  for (std::size_t t = 0; t < N; ++t)
    for (std::size_t s = 0; s <= t; ++s) weights(t, s) = 1 / Real(N);
  return weights;
}
