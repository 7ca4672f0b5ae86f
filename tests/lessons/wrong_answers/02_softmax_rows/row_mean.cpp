// Subtracts the mean of each row, not its maximum: e^20000 is infinite for 20000 and -20000.
#include <cmath>

#include "exercise.hpp"

using namespace heed;

Array softmax_rows(const Array& scores) {
  const std::size_t N = scores.shape(0), M = scores.shape(1);
  Array weights = zeros({N, M});
  for (std::size_t i = 0; i < N; ++i) {
    double mean = 0, sum = 0;
    for (std::size_t j = 0; j < M; ++j) mean += scores(i, j) / double(M);
    for (std::size_t j = 0; j < M; ++j) sum += std::exp(scores(i, j) - mean);
    for (std::size_t j = 0; j < M; ++j) weights(i, j) = Real(std::exp(scores(i, j) - mean) / sum);
  }
  return weights;
}
