// Pairs column i with column i + D / 2: other pairs than in the formula.
#include <cmath>

#include "exercise.hpp"

using namespace heed;

Array rotary(const Array& x) {
  Array rotated = x;
  const std::size_t D = x.shape(1);
  for (std::size_t t = 0; t < x.shape(0); ++t)
    for (std::size_t i = 0; i < D / 2; ++i) {
      const double angle = double(t) / std::pow(10000.0, double(2 * i) / double(D));
      const double a = x(t, i), b = x(t, i + D / 2);
      rotated(t, i) = Real(a * std::cos(angle) - b * std::sin(angle));
      rotated(t, i + D / 2) = Real(a * std::sin(angle) + b * std::cos(angle));
    }
  return rotated;
}
