// Rotates clockwise: the sign of the sine is wrong in both lines.
#include <cmath>

#include "exercise.hpp"

using namespace heed;

Array rotary(const Array& x) {
  Array rotated = x;
  const std::size_t D = x.shape(1);
  for (std::size_t t = 0; t < x.shape(0); ++t)
    for (std::size_t i = 0; i < D; i += 2) {
      const double angle = double(t) / std::pow(10000.0, double(i) / double(D));
      const double a = x(t, i), b = x(t, i + 1);
      rotated(t, i) = Real(a * std::cos(angle) + b * std::sin(angle));
      rotated(t, i + 1) = Real(b * std::cos(angle) - a * std::sin(angle));
    }
  return rotated;
}
