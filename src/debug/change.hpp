// change.hpp: the difference of two results of a function, for central differences.
#pragma once

#include <cmath>
#include <limits>

#include "heed/array/array.hpp"

namespace HEED_NAMESPACE {

// A difference of two results, and a bound on its rounding error: the sum of one unit in the last
// place of each element.
struct Change {
  double value = 0, rounding = 0;
};

// sum_i (a_i - b_i) u_i over the elements for which counts(i, a_i, b_i) is true. Computing
// sum_i a_i u_i - sum_i b_i u_i instead would lose more digits.
template <class Counts>
Change change_of(const Array& a, const Array& b, const Array& u, const Counts& counts) {
  Change sum;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double above = a.data()[i], below = b.data()[i], factor = u.data()[i];
    if (!counts(i, above, below)) continue;
    sum.value += (above - below) * factor;
    sum.rounding += (std::abs(above) + std::abs(below)) * std::abs(factor) *
                    static_cast<double>(std::numeric_limits<Real>::epsilon());
  }
  return sum;
}

}  // namespace HEED_NAMESPACE
