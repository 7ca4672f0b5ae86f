// rotary.hpp: rotary position embedding (RoPE) of queries and keys.
#pragma once

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// Rotates each pair of neighbouring elements (2i, 2i + 1) of each head by an angle that grows with
// the position: the row at position t by t base^(-2i / D) radians, where D is the width of a head.
// The dot product of a rotated query and a rotated key then depends on their positions only through
// the difference of the positions. Su et al. 2021, "RoFormer: Enhanced Transformer with Rotary
// Position Embedding", equation 34.
// x (..., T, H D) for H = num_heads heads keeps its shape; its rows have the positions
// first_position to first_position + T - 1. Throws Error unless x has at least two axes, the
// last divisible by 2 num_heads, num_heads is not 0 and base is above 0.
Tensor rotary_embedding(In x, std::size_t num_heads = 1, std::size_t first_position = 0,
                        double base = 10000);

}  // namespace HEED_NAMESPACE
