// 11 rotary: rotary position embedding (RoPE).
//
// Su et al. 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding", section 3.2, add
// no position encodings to the input. They rotate each query and each key by angles that grow with
// its position. The dot product of a query and a key then depends on the positions only through
// their difference.
//
// x (N, D), D even, has a query (or a key) for each position t. Take columns 2i and 2i + 1 of row t
// as a point (a, b) in the plane. Rotate it counterclockwise by the angle t / 10000^(2i / D):
//   (a cos - b sin, a sin + b cos)
// with the cosine and sine of the angle. Return the rotated rows, (N, D).

#include <cmath>

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
Array rotary(const Array& x) {
  Array rotated = x;
  const std::size_t D = x.shape(1);
  for (std::size_t t = 0; t < x.shape(0); ++t)
    for (std::size_t i = 0; i < D; i += 2) {
      const double angle = double(t) / std::pow(10000.0, double(i) / double(D));
      const double a = x(t, i), b = x(t, i + 1);
      rotated(t, i) = Real(a * std::cos(angle) - b * std::sin(angle));
      rotated(t, i + 1) = Real(a * std::sin(angle) + b * std::cos(angle));
    }
  return rotated;
}
// Your part ends here.
