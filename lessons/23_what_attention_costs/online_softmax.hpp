// online_softmax.hpp: the row of exercise 23.
#pragma once

#include <limits>

#include "heed/array/array.hpp"

namespace heed {

// What online softmax keeps of the keys that one query has read.
struct Row {
  explicit Row(std::size_t width) : output(zeros({width})) {}
  Real maximum = -std::numeric_limits<Real>::infinity();  // the largest score
  Real sum = 0;                                           // of exp(score - maximum)
  Array output;  // (width): the sum of exp(score - maximum) * value
};

}  // namespace heed
