// positions.hpp: a vector for each place, from waves of many lengths and no learning.
#pragma once

#include "heed/array/array.hpp"

namespace heed::nn {

// Row t, for the places 0 to length - 1, is to be added to the vector of the symbol that stands
// there: (length, width). Columns 2i and 2i + 1 are sine and cosine of the same angle,
//   sin(t / 10000^(2i / width)) and cos(t / 10000^(2i / width)),
// in radians: waves from 2 pi places long to almost 10000 times that.
// Vaswani et al. 2017, "Attention Is All You Need", section 3.5.
// Throws Error for a width that is 0 or odd.
Array sinusoidal_positions(std::size_t length, std::size_t width);

}  // namespace heed::nn
