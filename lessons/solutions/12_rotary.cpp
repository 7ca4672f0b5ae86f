// 12 rotary: places that are turns, and nothing is added to the words.
//
// Su et al. (2021) do without vectors for places. They turn each query and each key by an angle
// that grows with its place: then their dot product tells how far apart the two are, and nothing
// else about where they stand (lesson 12's clock, and cos(a - b)).
//
// x (N, D), D even, has a query, or a key, for each place. Take columns 2i and 2i + 1 of row t for
// a point (a, b) in the plane, and turn it to the left by the angle t / 10000^(2i / D): it goes to
//   (a cos - b sin, a sin + b cos)
// with that angle's cosine and sine. Give the turned rows, (N, D).
// Hint: Two loops, over the rows t and over every second column; the angle depends on both.
// Hint: Read both numbers of a pair before you write the first.

#include <cmath>

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
Array rotary(const Array& x) {
  Array transposed = x;
  const std::size_t D = x.shape(1);
  for (std::size_t t = 0; t < x.shape(0); ++t)
    for (std::size_t i = 0; i < D; i += 2) {
      const double angle = double(t) / std::pow(10000.0, double(i) / double(D));
      const double a = x(t, i), b = x(t, i + 1);
      transposed(t, i) = Real(a * std::cos(angle) - b * std::sin(angle));
      transposed(t, i + 1) = Real(a * std::sin(angle) + b * std::cos(angle));
    }
  return transposed;
}
// Your part ends here.
