// attention.hpp: scaled dot-product attention and attention weights, with masks and several heads.
#pragma once

#include <optional>

#include "heed/autograd/tensor.hpp"
#include "heed/ops/mask.hpp"

namespace HEED_NAMESPACE {

// Options of the attention functions below.
struct AttentionOptions {
  bool causal = false;  // the query at position t attends only to the keys 0 to past + t
  // Number of keys from a KV cache: query t has position past + t. Needs `causal`, past + T <= S.
  std::size_t past = 0;
  // True where the query may attend to the key, as in PyTorch. The mask broadcasts to (..., T, S),
  // and a mask (B, T, S) is used for all heads.
  std::optional<Mask> mask;
  Tensor bias;                  // added to the scores; broadcasts to (..., T, S)
  std::optional<double> scale;  // factor of q k^T; default 1 / sqrt(D)
  std::size_t num_heads = 1;    // the last axis contains all heads: D = C / num_heads
};

// The attention weights softmax(scale q k^T + bias), 0 where masked. A row sums to one, or is all 0
// if fully masked. q (..., T, D) and k (..., S, D) give (..., T, S). With num_heads > 1,
// q (B, T, C) and k (B, S, C) give (B, H, T, S). Composed of elementary operations.
Tensor attention_weights(const Tensor& q, const Tensor& k, const AttentionOptions& options = {},
                         SourceLocation location = SourceLocation::current());

// The output of an attention together with the attention weights that made it.
struct AttentionResult {
  Tensor output, weights;  // shapes as in the functions below
};

// softmax(scale q k^T) v: q (..., T, D), k (..., S, D), v (..., S, E) give (..., T, E); with
// num_heads > 1, q (B, T, C), k (B, S, C) and v (B, S, C) give (B, T, C). Vaswani et al. 2017,
// "Attention Is All You Need", equation 1. Without mask and bias, attention is one fused operation
// that never stores the whole (T, S) matrix. Non-causal attention sums in double, so that each
// query's output has the same bits for any order of keys and queries. With mask or bias, attention
// multiplies attention_weights() by v, so NaN or inf in v gives NaN even at a masked position.
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options = {},
                                    SourceLocation location = SourceLocation::current());

// scaled_dot_product_attention() and attention_weights() in one computation.
AttentionResult attention_with_weights(const Tensor& q, const Tensor& k, const Tensor& v,
                                       const AttentionOptions& options = {},
                                       SourceLocation location = SourceLocation::current());

// split_heads turns (B, T, C) into (B, H, T, C / H), and join_heads is the inverse.
Tensor split_heads(const Tensor& x, std::size_t num_heads,
                   SourceLocation location = SourceLocation::current());
Tensor join_heads(const Tensor& x, SourceLocation location = SourceLocation::current());

}  // namespace HEED_NAMESPACE
