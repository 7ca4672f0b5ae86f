// attention.hpp: scaled dot-product attention and attention weights, with masks and several heads.
#pragma once

#include <optional>

#include "heed/autograd/tensor.hpp"
#include "heed/ops/mask.hpp"

namespace HEED_NAMESPACE {

struct AttentionOptions {
  bool causal = false;          // the query at position t attends only to the keys 0 to past + t
  std::size_t past = 0;         // number of keys before the first query's own key (KV cache); needs
                                // causal and past + T <= S
  std::optional<Mask> mask;     // broadcasts to (..., T, S); true: the query may attend to the key,
                                // as in PyTorch. A (B, T, S) mask is used for all heads
  Tensor bias;                  // added to the scores; broadcasts to (..., T, S)
  std::optional<double> scale;  // factor of q k^T; default 1 / sqrt(D)
  std::size_t num_heads = 1;    // the last axis contains all heads: D = C / num_heads
};

// The attention weights softmax(scale q k^T + bias), 0 where masked, so a fully masked row is 0.
// q (..., T, D) and k (..., S, D) give (..., T, S); other rows sum to one. With num_heads > 1,
// q (B, T, C) and k (B, S, C) give (B, H, T, S). Composed of elementary operations.
Tensor attention_weights(const Tensor& q, const Tensor& k, const AttentionOptions& options = {},
                         SourceLocation location = SourceLocation::current());

// softmax(scale q k^T) v: q (..., T, D), k (..., S, D), v (..., S, E) give (..., T, E); with
// num_heads, (B, T, C), (B, S, C), (B, S, C) give (B, T, C).
// Vaswani et al. 2017, "Attention Is All You Need", equation 1. Without mask and bias, this is one
// fused operation that never stores the whole (T, S) matrix. If not causal, it sums in double: the
// order of the keys and of the queries changes no bit. With mask or bias, it multiplies
// attention_weights by v, so NaN or inf in v gives NaN even at a masked position.
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options = {},
                                    SourceLocation location = SourceLocation::current());

// split_heads turns (B, T, C) into (B, H, T, C / H), and join_heads is the inverse.
Tensor split_heads(const Tensor& x, std::size_t num_heads,
                   SourceLocation location = SourceLocation::current());
Tensor join_heads(const Tensor& x, SourceLocation location = SourceLocation::current());

}  // namespace HEED_NAMESPACE
