// positions.cpp: sinusoidal position encodings.

#include "heed/nn/positions.hpp"

#include <cmath>

#include "heed/base/error.hpp"

namespace HEED_NAMESPACE::nn {

Array sinusoidal_positions(std::size_t length, std::size_t width) {
  if (width == 0 || width % 2 != 0)
    throw_error("sinusoidal_positions: width ", width,
                " must be even and at least 2: each frequency has a sine and a cosine");
  Array positions = uninitialized({length, width});
  for (std::size_t i = 0; i < width; i += 2) {
    // In double, since a float has few correct digits for an angle of thousands of radians.
    const double divisor = std::pow(10000.0, static_cast<double>(i) / static_cast<double>(width));
    for (std::size_t t = 0; t < length; ++t) {
      const double angle = static_cast<double>(t) / divisor;
      positions(t, i) = static_cast<Real>(std::sin(angle));
      positions(t, i + 1) = static_cast<Real>(std::cos(angle));
    }
  }
  return positions;
}

}  // namespace HEED_NAMESPACE::nn
