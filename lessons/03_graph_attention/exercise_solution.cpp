// 03 softmax_rows: softmax over the rows of a matrix, for scores of any size.
//
// Lesson 02 divided each row of scores by its sum, as the function below does, and some weights
// were negative. Softmax takes e^score in place of the score. e^score is positive, and it grows
// with the score: weights(i, j) = e^scores(i, j) / sum over k of e^scores(i, k).
// Scores (N, M) give weights (N, M), and each row of weights sums to one.
//
// One row may contain scores as different as 20000 and -20000, but in a float e^1000 is infinite.
// You may subtract the same number from all scores of a row. Why does no weight change? Choose the
// number so that no e^... is infinite.

#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;

Array softmax_rows(const Array& scores) {
  const std::size_t N = scores.shape(0), M = scores.shape(1);
  Array weights = zeros({N, M});
  // Your part begins here.
  for (std::size_t i = 0; i < N; ++i) {
    Real maximum = scores(i, 0), sum = 0;
    for (std::size_t j = 0; j < M; ++j) maximum = std::max(maximum, scores(i, j));
    for (std::size_t j = 0; j < M; ++j) sum += std::exp(scores(i, j) - maximum);
    for (std::size_t j = 0; j < M; ++j) weights(i, j) = std::exp(scores(i, j) - maximum) / sum;
  }
  // Your part ends here.
  return weights;
}
