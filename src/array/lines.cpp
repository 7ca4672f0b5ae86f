// lines.cpp: where lines begin, and what is computed along one.

#include "heed/array/lines.hpp"

#include <limits>

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
  for (std::size_t i = 0; i < n; ++i) top = x[i] > top ? x[i] : top;
  return top;
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
