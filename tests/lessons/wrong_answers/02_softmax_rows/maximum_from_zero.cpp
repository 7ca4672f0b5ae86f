// The search for the maximum starts at 0: with negative scores alone, every exp is 0.
#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;

Array softmax_rows(const Array& scores) {
  const std::size_t N = scores.shape(0), M = scores.shape(1);
  Array weights = zeros({N, M});
  for (std::size_t i = 0; i < N; ++i) {
    Real maximum = 0, sum = 0;
    for (std::size_t j = 0; j < M; ++j) maximum = std::max(maximum, scores(i, j));
    for (std::size_t j = 0; j < M; ++j) sum += std::exp(scores(i, j) - maximum);
    for (std::size_t j = 0; j < M; ++j) weights(i, j) = std::exp(scores(i, j) - maximum) / sum;
  }
  return weights;
}
