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

#include <cmath>

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
Array rotary(const Array& x) {
  Array transposed = x;
  return transposed;
}
// Your part ends here.
