// 02 softmax_rows: scores become shares that are positive, however large the scores are.
//
// Lesson 02 divided each row of scores by its sum, as the function below does, and some shares came
// out below zero. So take e^score in place of the score: it is positive, and it grows with the
// score. The share (i, j) is e^scores(i, j), divided by the sum of these over row i. This is called
// softmax: scores (N, M) give shares (N, M), and each row sums to one.
//
// A score may be 1000 or 20000, and e^1000 is too large for a float. What can be subtracted from
// all scores of a row without changing its shares?

#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;

Array softmax_rows(const Array& scores) {
  const std::size_t N = scores.shape(0), M = scores.shape(1);
  Array shares = zeros({N, M});
  // Your part begins here.
  for (std::size_t i = 0; i < N; ++i) {
    Real sum = 0;
    for (std::size_t j = 0; j < M; ++j) sum += scores(i, j);
    for (std::size_t j = 0; j < M; ++j) shares(i, j) = scores(i, j) / sum;
  }
  // Your part ends here.
  return shares;
}
