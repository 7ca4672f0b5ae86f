// Divides by the sum of the column: each column sums to one.
#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;

Array softmax_rows(const Array& scores) {
  const std::size_t N = scores.shape(0), M = scores.shape(1);
  Array weights = zeros({N, M});
  for (std::size_t j = 0; j < M; ++j) {
    Real maximum = scores(0, j), sum = 0;
    for (std::size_t i = 0; i < N; ++i) maximum = std::max(maximum, scores(i, j));
    for (std::size_t i = 0; i < N; ++i) sum += std::exp(scores(i, j) - maximum);
    for (std::size_t i = 0; i < N; ++i) weights(i, j) = std::exp(scores(i, j) - maximum) / sum;
  }
  return weights;
}
