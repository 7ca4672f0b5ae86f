// 06 one_hot: find the factor on the scores at which half of the rows are one-hot.
//
// scores (N, M) has a row for each query. Here a row counts as one-hot if the largest attention
// weight in softmax(factor * row) is above 0.99. A larger factor makes more rows one-hot.
//
// Return the smallest factor at which at least half of the rows are one-hot, with a relative error
// of at most 0.001. It lies between 0 and a million.

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
  Array row = xt::view(scores, 0);
  double factor = 1;
  while (largest_weight(row, factor) <= 0.99 && factor < 1'000'000) factor *= 2;
  return factor;
}
// Your part ends here.
