// lines.cpp: the layout of 1-D slices along an axis, and sum, maximum and dot product of one slice.

#include "array/lines.hpp"

#include <limits>

#include "heed/array/map.hpp"

namespace HEED_NAMESPACE {

Lines::Lines(const Shape& shape, std::size_t axis) {
  if (shape.size() == 0) return;  // an array of rank 0 is one slice of one element
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
  Real max = -std::numeric_limits<Real>::infinity();
  const std::size_t vectorized = n / Pack::size * Pack::size;  // elements processed with SIMD
  Pack lane_max(max);
  for (std::size_t i = 0; i < vectorized; i += Pack::size) {
    const Pack values = Pack::load_unaligned(x + i);
    lane_max = xsimd::select(values > lane_max, values, lane_max);
  }
  for (std::size_t i = vectorized; i < n; ++i) max = x[i] > max ? x[i] : max;
  Real lanes[Pack::size];
  lane_max.store_unaligned(lanes);
  for (std::size_t half = Pack::size / 2; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) lanes[i] = std::max(lanes[i], lanes[i + half]);
  return std::max(max, lanes[0]);
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

}  // namespace HEED_NAMESPACE
