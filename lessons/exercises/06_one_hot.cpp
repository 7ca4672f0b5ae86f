// 06 one_hot: find the factor at which half of the rows are one-hot.
//
// scores (N, M) has a row for each query. Call a row one-hot when the largest share of
// softmax(factor times the row) is above 0.99. The larger the factor, the more rows are.
//
// Find the smallest factor at which at least half of the rows are one-hot, to within a thousandth
// of it. It lies between 0 and a million.

#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;

// The largest share of softmax(factor times row): e^0 over the sum of e^(factor (score - top)).
double largest_share(const Array& row, double factor) {
  const double top = *std::max_element(row.begin(), row.end());
  double total = 0;
  for (Real score : row) total += std::exp(factor * (score - top));
  return 1 / total;
}

// Your part begins here.
double one_hot_factor(const Array& scores) {
  Array row = xt::view(scores, 0);
  double factor = 1;
  while (largest_share(row, factor) <= 0.99 && factor < 1'000'000) factor *= 2;
  return factor;
}
// Your part ends here.
