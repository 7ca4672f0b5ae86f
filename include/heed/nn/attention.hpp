// attention.hpp: the AttentionHead and MultiHeadAttention modules, and the key-value cache.
#pragma once

#include <optional>

#include "heed/nn/layers.hpp"
#include "heed/ops/attention.hpp"

namespace HEED_NAMESPACE::nn {

// The dropout settings of a forward pass in training. Forward passes take a pointer to a
// TrainingMode; the default, a null pointer, means evaluation mode: no dropout.
struct TrainingMode {
  double dropout = 0;              // the probability that a value is zeroed
  Generator* generator = nullptr;  // draws the dropout masks
};
// x with dropout, or x itself if `training` is null.
Tensor dropout(const Tensor& x, const TrainingMode* training,
               SourceLocation location = SourceLocation::current());

// Which keys each query may attend to.
struct AttentionMask {
  bool causal = false;  // query t may attend to keys 0 to t only
  // True where the query may attend to the key. The mask broadcasts to the shape of the scores: (B,
  // T, S) for one head, (B, H, T, S) for several heads.
  std::optional<Mask> mask;
  // True where the key is padding, to which no query attends: (B, S). PyTorch's key_padding_mask.
  std::optional<Mask> key_padding;
};

// The keys and values of the positions that causal self-attention has processed, so that they are
// not computed again for the next position.
struct KeyValueCache {
  // Creates an empty cache for at most `positions` positions.
  KeyValueCache(std::size_t positions, std::size_t embed_dim);
  KeyValueCache(KeyValueCache&&) = default;  // not copyable: a copy would share keys and values
  KeyValueCache& operator=(KeyValueCache&&) = default;

  Tensor keys, values;   // (1, S, C) for S positions; only the first `size` positions are in use
  std::size_t size = 0;  // positions in use
};

// One head: query, key and value projections without bias, then scaled dot-product attention.
struct AttentionHead {
  // The projections map C = embed_dim to head_size.
  AttentionHead(Scope scope, std::size_t embed_dim, std::size_t head_size);

  // x (B, T, C) -> (B, T, head_size)
  Tensor operator()(const Tensor& x, const AttentionMask& mask = {},
                    SourceLocation location = SourceLocation::current()) const;
  // The attention weights (B, T, T): a row for each query, a column for each key.
  Tensor weights(const Tensor& x, const AttentionMask& mask = {},
                 SourceLocation location = SourceLocation::current()) const;

  Linear query, key, value;  // weights (head_size, C)
};

// H heads of width C / H, whose outputs are concatenated and projected (Vaswani et al. 2017,
// section 3.2.2).
struct MultiHeadAttention {
  // Throws Error unless embed_dim is divisible by num_heads.
  MultiHeadAttention(Scope scope, std::size_t embed_dim, std::size_t num_heads,
                     bool with_bias = true);

  // Self-attention: queries, keys and values are projections of x. (B, T, C) -> (B, T, C)
  Tensor operator()(const Tensor& x, const AttentionMask& mask = {},
                    const TrainingMode* training = nullptr,
                    SourceLocation location = SourceLocation::current()) const;
  // Cross-attention: queries are projections of x (B, T, C), keys and values of memory (B, S, C).
  // Returns (B, T, C).
  Tensor operator()(const Tensor& x, const Tensor& memory, const AttentionMask& mask = {},
                    const TrainingMode* training = nullptr,
                    SourceLocation location = SourceLocation::current()) const;
  // Causal self-attention. x (1, T, C) holds the T positions after the cached ones; its keys and
  // values are appended to the cache. Returns (1, T, C). Computes no gradients. Throws Error if no
  // NoGrad object exists, or if the cache has fewer than T free positions.
  Tensor operator()(const Tensor& x, KeyValueCache& cache,
                    SourceLocation location = SourceLocation::current()) const;
  // The attention weights of every head: (B, H, T, S).
  Tensor weights(const Tensor& x, const Tensor& memory, const AttentionMask& mask = {},
                 SourceLocation location = SourceLocation::current()) const;
  // The output (B, T, C) together with the weights (B, H, T, S) that made it, in one computation
  // (torch.nn.MultiheadAttention with need_weights = True, average_attn_weights = False).
  AttentionResult with_weights(const Tensor& x, const Tensor& memory,
                               const AttentionMask& mask = {},
                               const TrainingMode* training = nullptr,
                               SourceLocation location = SourceLocation::current()) const;

  std::size_t num_heads;          // H, which divides C
  Linear query, key, value, out;  // weights (C, C)
};

}  // namespace HEED_NAMESPACE::nn
