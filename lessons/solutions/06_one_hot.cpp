// 06 one_hot: find the factor at which half of the rows are one-hot.
//
// scores (N, M) has a row for each query. Call a row one-hot when the largest share of
// softmax(factor times the row) is above 0.99. The larger the factor, the more rows are.
//
// Find the smallest factor at which at least half of the rows are one-hot, to within a thousandth
// of it. It lies between 0 and a million.
// Hint: For a given factor, how many rows are one-hot? Count them first.
// Hint: If fewer than half are, the factor is too small. If not, it is large enough.
// Hint: Halve the interval from 0 to a million, over and over, and keep the half with the answer.

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
  double too_small = 0, enough = 1'000'000;
  for (int step = 0; step < 60; ++step) {
    const double middle = (too_small + enough) / 2;
    std::size_t one_hot = 0;
    for (std::size_t i = 0; i < scores.shape(0); ++i) {
      Array row = xt::view(scores, i);
      if (largest_share(row, middle) > 0.99) ++one_hot;
    }
    (2 * one_hot >= scores.shape(0) ? enough : too_small) = middle;
  }
  return enough;
}
// Your part ends here.
