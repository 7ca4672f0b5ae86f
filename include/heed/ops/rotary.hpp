// rotary.hpp: rotary position embedding (RoPE) of queries and keys.
#pragma once

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// The two elements of pair i of a head that are rotated together. The layouts are permutations of
// each other, which the rows of the query and key matrices of a model must match.
enum class RotaryPairs {
  interleaved,  // 2i and 2i + 1, as in RoFormer and in Meta's Llama
  halves        // i and i + D / 2, as in GPT-NeoX and in Llama of Hugging Face's transformers
};

// Options of rotary_embedding().
struct RotaryOptions {
  double base = 10000;                           // called theta in Llama's configurations
  RotaryPairs pairs = RotaryPairs::interleaved;  // the elements that form a pair
  std::size_t dim = 0;  // D, the number of elements at the start of a head that are rotated; 0: all
};

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
// The same with options. With options.dim, the other elements of each head stay as they are. Throws
// Error also if options.dim is odd or larger than the width of a head.
Tensor rotary_embedding(In x, std::size_t num_heads, std::size_t first_position,
                        const RotaryOptions& options);

}  // namespace HEED_NAMESPACE
