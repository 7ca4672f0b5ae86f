// attention.hpp: every query looks at every key and takes away a mixture of values.
#pragma once

#include <optional>

#include "heed/autograd/tensor.hpp"

namespace heed {

struct AttentionOptions {
  bool causal = false;          // query t sees the keys 0 to past + t only
  std::size_t past = 0;         // keys before the first query's own, when queries follow others
                                // whose keys were kept; past + T may be less than S. Causal only
  std::optional<Mask> mask;     // broadcasts to (..., T, S); true: may be seen (as in PyTorch).
                                // With heads, (B, T, S) is the same for each of them
  Tensor bias;                  // added to the scores; broadcasts to (..., T, S)
  std::optional<double> scale;  // of the scores; 1 / sqrt(D) unless given
  std::size_t num_heads = 1;    // heads lie side by side in the last axis, D = C / num_heads
};

// The shares softmax(scale q k^T), masked places excluded: q (..., T, D), k (..., S, D) give
// (..., T, S), rows sum to one; with num_heads > 1, q (B, T, C) and k (B, S, C) give (B, H, T, S).
// A query that may see nothing gets a row of zeros. Written in plain operations, to be looked at.
// Hidden places weigh nothing, but a value there that is infinite or NaN makes 0 times it NaN.
Tensor attention_weights(const Tensor& q, const Tensor& k, const AttentionOptions& options = {},
                         SourceLocation location = SourceLocation::current());

// softmax(scale q k^T) v: q (..., T, D), k (..., S, D), v (..., S, E) give (..., T, E); with
// num_heads, (B, T, C), (B, S, C), (B, S, C) give (B, T, C).
// Vaswani et al. 2017, "Attention Is All You Need", equation 1. Without mask and bias it is one
// operation that never writes the whole (T, S) matrix down; otherwise plain ones. As one operation
// and not causal, it adds up in double and rounds once: keys and values in another order, or
// queries in other rows, give the same bits.
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options = {},
                                    SourceLocation location = SourceLocation::current());

// (B, T, C) to (B, H, T, C / H), and back.
Tensor split_heads(const Tensor& x, std::size_t num_heads,
                   SourceLocation location = SourceLocation::current());
Tensor join_heads(const Tensor& x, SourceLocation location = SourceLocation::current());

}  // namespace heed
