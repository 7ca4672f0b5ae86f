// The mean at position t includes the positions before t, but not t itself.
#include "exercise.hpp"

using namespace heed;

Array running_mean_weights(std::size_t N) {
  Array weights = zeros({N, N});
  weights(0, 0) = 1;
  for (std::size_t t = 1; t < N; ++t)
    for (std::size_t s = 0; s < t; ++s) weights(t, s) = 1 / Real(t);
  return weights;
}
