// positions.hpp: sinusoidal position encodings (Vaswani et al. 2017).
#pragma once

#include "heed/array/array.hpp"

namespace HEED_NAMESPACE::nn {

// The encodings (length, width) of the positions 0 to length - 1. Row t is added to the embedding
// of the token at position t. Columns 2i and 2i + 1 are
//   sin(t / 10000^(2i / width)) and cos(t / 10000^(2i / width)),
// in radians: wavelengths from 2 pi to almost 10000 * 2 pi positions.
// Vaswani et al. 2017, "Attention Is All You Need", section 3.5.
// Throws Error for a width that is 0 or odd.
Array sinusoidal_positions(std::size_t length, std::size_t width);

}  // namespace HEED_NAMESPACE::nn
