// online_softmax.hpp: the running maximum, sum and output of exercise 23.
#pragma once

#include <limits>

#include "heed/array/array.hpp"

namespace heed {

// What online softmax stores for one query about the keys read so far.
struct Row {
  explicit Row(std::size_t width) : output(zeros({width})) {}
  Real maximum = -std::numeric_limits<Real>::infinity();  // the largest score
  Real sum = 0;                                           // sum of exp(score - maximum)
  Array output;  // (width): the sum of exp(score - maximum) * value
};

}  // namespace heed
