// The exponent is 2i / D with i already the column: the angles fall too fast.
#include <cmath>

#include "exercise.hpp"

using namespace heed;

Array rotary(const Array& x) {
  Array rotated = x;
  const std::size_t D = x.shape(1);
  for (std::size_t t = 0; t < x.shape(0); ++t)
    for (std::size_t i = 0; i < D; i += 2) {
      const double angle = double(t) / std::pow(10000.0, 2 * double(i) / double(D));
      const double a = x(t, i), b = x(t, i + 1);
      rotated(t, i) = Real(a * std::cos(angle) - b * std::sin(angle));
      rotated(t, i + 1) = Real(a * std::sin(angle) + b * std::cos(angle));
    }
  return rotated;
}
