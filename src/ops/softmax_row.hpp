// softmax_row.hpp: the softmax of one row and its derivative, used by softmax and fused attention.
#pragma once

#include <algorithm>
#include <limits>

#include "array/lines.hpp"
#include "heed/array/map.hpp"

namespace HEED_NAMESPACE {

inline constexpr Real infinity = std::numeric_limits<Real>::infinity();

// The row's maximum, and the sum of exp(x_j - max), which is 0 for a fully masked row.
struct ExpRow {
  Real max;
  double sum;
};

// Whether all scores of the row are -infinity, so that the query attends to no key. A NaN among the
// scores makes the sum NaN, so the result is false.
inline bool fully_masked(const Real* x, std::size_t n, Real max) {
  return max == -infinity && sum_of(x, n) == static_cast<double>(-infinity);
}

// y_i = exp(x_i - max_j x_j), which cannot overflow; zeros for a fully masked row. y may alias x.
inline ExpRow exp_row(Real* y, std::size_t n, const Real* x) {
  const Real max = max_of(x, n);
  if (fully_masked(x, n, max)) return std::fill_n(y, n, Real{0}), ExpRow{max, 0};
  map_values([max](auto v) { return xsimd::exp(v - max); }, y, n, x);
  return {max, sum_of(y, n)};
}

// dx_i = y_i (dy_i - sum_j dy_j y_j), for y = softmax(x). dx may alias dy.
inline void softmax_row_backward(Real* dx, std::size_t n, const Real* dy, const Real* y) {
  const auto mean = static_cast<Real>(dot_of(dy, y, n));
  map_values([mean](auto d, auto p) { return p * (d - mean); }, dx, n, dy, y);
}

}  // namespace HEED_NAMESPACE
