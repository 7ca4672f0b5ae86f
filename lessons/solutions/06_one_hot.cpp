// 06 one_hot: find the factor on the scores at which half of the rows are one-hot.
//
// scores (N, M) has a row for each query. Here a row counts as one-hot if the largest attention
// weight in softmax(factor * row) is above 0.99. A larger factor makes more rows one-hot.
//
// Return the smallest factor at which at least half of the rows are one-hot, with a relative error
// of at most 0.001. It lies between 0 and a million.
// Hint: First count the one-hot rows for a given factor.
// Hint: If fewer than half of the rows are one-hot, the factor is too small, else large enough.
// Hint: Bisection: halve the interval from 0 to a million, and keep the half with the answer.

#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;

// The largest weight of softmax(factor * row): 1 / (sum of exp(factor * (score - maximum))).
double largest_weight(const Array& row, double factor) {
  const double maximum = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (Real score : row) sum += std::exp(factor * (score - maximum));
  return 1 / sum;
}

// Your part begins here.
double one_hot_factor(const Array& scores) {
  double too_small = 0, large_enough = 1'000'000;
  for (int step = 0; step < 60; ++step) {
    const double middle = (too_small + large_enough) / 2;
    std::size_t one_hot = 0;
    for (std::size_t i = 0; i < scores.shape(0); ++i) {
      Array row = xt::view(scores, i);
      if (largest_weight(row, middle) > 0.99) ++one_hot;
    }
    (2 * one_hot >= scores.shape(0) ? large_enough : too_small) = middle;
  }
  return large_enough;
}
// Your part ends here.
