// Tests exercise 11 rotary: rotations, the lengths of rows, and dot products of queries and keys.

#include <algorithm>
#include <cmath>
#include <complex>

#include "exercise.hpp"

using namespace heed;

Array rotary(const Array& x);

namespace {

// The rotation as a complex product with e^(i angle).
Array expected_rows(const Array& x) {
  Array rotated = x;
  const std::size_t pairs = x.shape(1) / 2;
  for (std::size_t t = 0; t < x.shape(0); ++t)
    for (std::size_t p = 0; p < pairs; ++p) {
      const double angle = double(t) * std::exp(-std::log(10000.0) * double(p) / double(pairs));
      const std::complex<double> point(x(t, 2 * p), x(t, 2 * p + 1));
      const std::complex<double> result = point * std::polar(1.0, angle);
      rotated(t, 2 * p) = Real(result.real());
      rotated(t, 2 * p + 1) = Real(result.imag());
    }
  return rotated;
}

double dot_of(const Array& a, std::size_t s, const Array& b, std::size_t t) {
  double sum = 0;
  for (std::size_t d = 0; d < a.shape(1); ++d) sum += double(a(s, d)) * double(b(t, d));
  return sum;
}

// Whether row 1 has changed: without any rotation, the lengths would also stay the same.
bool is_rotated(const Array& got, const Array& x) {
  if (shape_of(got) != shape_of(x)) return false;
  double difference = 0;
  for (std::size_t d = 0; d < x.shape(1); ++d)
    difference = std::max(difference, std::abs(double(got(1, d)) - double(x(1, d))));
  return difference > 1e-3;
}

// The same row at each of n positions.
Array repeated(const Array& row, std::size_t n) {
  Array x = zeros({n, row.size()});
  for (std::size_t t = 0; t < n; ++t) xt::row(x, int(t)) = row;
  return x;
}

}  // namespace

int main() {
  expect("position 0 is not rotated", rotary({{3, 4}}), Array{{3, 4}});
  Array unit = zeros({3, 2});
  for (int t = 0; t < 3; ++t) unit(t, 0) = 1;
  expect("(1, 0) at positions 0, 1 and 2 becomes (cos, sin)", rotary(unit), expected_rows(unit));
  Generator g(12);
  for (const Shape& shape : {Shape{2, 4}, Shape{5, 8}, Shape{300, 16}}) {
    const Array x = g.randn(shape), got = rotary(x);
    const std::string name = std::to_string(shape[0]) + " x " + std::to_string(shape[1]);
    expect("rotated rows, " + name, got, expected_rows(x), 1e-4);
    if (!is_rotated(got, x)) continue;
    double error = 0;
    for (std::size_t t = 0; t < shape[0]; ++t)
      error = std::max(error, std::abs(dot_of(got, t, got, t) - dot_of(x, t, x, t)));
    expect("the lengths of rows stay, " + name, error < 1e-3,
           "a squared length changes by " + decimal(error, 4));
  }

  const Array queries = repeated(g.randn({16}), 40), keys = repeated(g.randn({16}), 40);
  const Array q = rotary(queries), k = rotary(keys);
  if (is_rotated(q, queries) && is_rotated(k, keys)) {
    const double here = dot_of(q, 3, k, 1), there = dot_of(q, 39, k, 37);
    expect("queries 3 and 39 have the same dot product with keys 1 and 37",
           std::abs(here - there) < 1e-3, decimal(here, 4) + " and " + decimal(there, 4));
    const double near = dot_of(q, 3, k, 2), back = dot_of(q, 2, k, 3);
    expect("query 3 with key 2 differs from query 2 with key 3", std::abs(near - back) > 1e-2,
           decimal(near, 4) + " and " + decimal(back, 4));
  }
  return verdict();
}
