// Subtracts the maximum of the whole matrix: a row of much smaller scores gets 0 / 0.
#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;

Array softmax_rows(const Array& scores) {
  const std::size_t N = scores.shape(0), M = scores.shape(1);
  const Real maximum = *std::max_element(scores.begin(), scores.end());
  Array weights = zeros({N, M});
  for (std::size_t i = 0; i < N; ++i) {
    Real sum = 0;
    for (std::size_t j = 0; j < M; ++j) sum += std::exp(scores(i, j) - maximum);
    for (std::size_t j = 0; j < M; ++j) weights(i, j) = std::exp(scores(i, j) - maximum) / sum;
  }
  return weights;
}
