// lines.cpp: where lines begin, and what is computed along one.

#include "heed/array/lines.hpp"

#include <limits>

#include "heed/array/map.hpp"

namespace heed {

Lines::Lines(const Shape& shape, std::size_t axis) {
  if (shape.size() == 0) return;  // a single element is a line of one
  size = shape[axis];
  for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  count = inner;
  for (std::size_t i = 0; i < axis; ++i) count *= shape[i];
}

double sum_of(const Real* x, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]);
  return sum;
}

Real max_of(const Real* x, std::size_t n) {
  Real top = -std::numeric_limits<Real>::infinity();
  const std::size_t whole = n / Pack::size * Pack::size;
  Pack tops(top);
  for (std::size_t i = 0; i < whole; i += Pack::size) {
    const Pack values = Pack::load_unaligned(x + i);
    tops = xsimd::select(values > tops, values, tops);
  }
  for (std::size_t i = whole; i < n; ++i) top = x[i] > top ? x[i] : top;
  Real last[Pack::size];
  tops.store_unaligned(last);
  for (std::size_t half = Pack::size / 2; half > 0; half /= 2)  // the upper half against the lower
    for (std::size_t i = 0; i < half; ++i) last[i] = std::max(last[i], last[i + half]);
  return std::max(top, last[0]);
}

double dot_of(const Real* a, const Real* b, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

double squared_deviations_of(const Real* x, std::size_t n, double mean) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double deviation = static_cast<double>(x[i]) - mean;
    sum += deviation * deviation;
  }
  return sum;
}

}  // namespace heed
