// attention.hpp: the AttentionHead and MultiHeadAttention modules, and the key-value cache.
#pragma once

#include <optional>

#include "heed/nn/layers.hpp"
#include "heed/ops/attention.hpp"
#include "heed/ops/rotary.hpp"

namespace HEED_NAMESPACE::nn {

// The dropout settings of a forward pass in training. Forward passes take a pointer to a
// TrainingMode; the default, a null pointer, means evaluation mode: no dropout.
struct TrainingMode {
  double dropout = 0;              // the probability that dropout zeroes a value
  Generator* generator = nullptr;  // the random generator of the dropout masks
};
// Returns x after dropout, or x itself if `training` is null or its dropout probability is 0.
Tensor dropout(In x, const TrainingMode* training);

// The options of an attention layer are those of scaled_dot_product_attention(), which the layer
// calls; this name is for their first members, which say to which keys each query may attend.
using AttentionMask = AttentionOptions;

// Stores the keys and values of the positions that causal self-attention has processed, so that
// these keys and values are not computed again for the next position.
struct KeyValueCache {
  // Creates an empty cache for `batch` sequences of at most `positions` positions, with keys and
  // values of that width.
  KeyValueCache(std::size_t positions, std::size_t width, std::size_t batch = 1);
  KeyValueCache(KeyValueCache&&) = default;  // not copyable: a copy would share keys and values
  KeyValueCache& operator=(KeyValueCache&&) = default;

  Tensor keys, values;   // (B, S, width) for S positions; only the first `size` are in use
  std::size_t size = 0;  // number of positions in use
};

// An attention head: query, key and value projections without bias, then scaled dot-product
// attention.
struct AttentionHead {
  // Each projection maps vectors of size C = embed_dim to vectors of size head_size.
  AttentionHead(Scope scope, std::size_t embed_dim, std::size_t head_size);

  // x (B, T, C) -> (B, T, head_size)
  Tensor operator()(In x, const AttentionMask& mask = {}) const;
  // The attention weights (B, T, T): a row for each query, a column for each key.
  Tensor weights(In x, const AttentionMask& mask = {}) const;

  Linear query, key, value;  // each weight: (head_size, C)
};

// Variants of multi-head attention.
struct AttentionVariant {
  std::size_t num_kv_heads = 0;  // grouped-query attention: a divisor of num_heads; 0: num_heads
  bool rotary = false;           // rotary_embedding() of queries and keys
  std::size_t head_dim = 0;      // width of a head; 0: embed_dim / num_heads
  RotaryOptions rotary_options = {};  // the options of rotary_embedding()
  bool qkv_bias = false;              // whether queries, keys and values have biases in any case
};

// The queries, keys and values of multi-head attention; queries and keys are rotated if the
// attention uses rotary embedding.
struct Projections {
  Tensor query;       // (B, T, H D), where D is the width of a head
  Tensor key, value;  // (B, S, H D), or narrower with grouped queries
};

// Multi-head attention: H heads of width D = C / H (or variant.head_dim), whose outputs are
// concatenated and projected (Vaswani et al. 2017, section 3.2.2).
struct MultiHeadAttention {
  // Throws Error unless embed_dim is divisible by num_heads (or head_dim is given), and num_heads
  // by num_kv_heads, and unless the width of a head is even if all of it is rotated.
  MultiHeadAttention(Scope scope, std::size_t embed_dim, std::size_t num_heads,
                     Bool with_bias = true, AttentionVariant variant = {});

  // Self-attention: queries, keys and values are projections of x. (B, T, C) -> (B, T, C)
  Tensor operator()(In x, const AttentionMask& mask = {},
                    const TrainingMode* training = nullptr) const;
  // Cross-attention: queries are projections of x (B, T, C), keys and values of memory (B, S, C).
  // Returns (B, T, C). (A template, so that {true} in attention(x, {true}) is a mask, causal.)
  template <class Memory, class = std::enable_if_t<std::is_base_of_v<Tensor, Memory>>>
  Tensor operator()(In x, const Memory& memory, const AttentionMask& mask = {},
                    const TrainingMode* training = nullptr) const {
    return attend(In(x, x.call()), In(memory, x.call()), mask, training);
  }
  // Causal self-attention with a cache. x (B, T, C) holds the T positions after the cached
  // positions. Appends the keys and values of x to the cache. Returns (B, T, C). Computes no
  // gradients. Throws Error unless a NoGrad object exists and the cache has T free positions.
  Tensor operator()(In x, KeyValueCache& cache) const;
  // The attention weights of every head: (B, H, T, S).
  Tensor weights(In x, In memory, const AttentionMask& mask = {}) const;
  // Returns the output (B, T, C) and the attention weights (B, H, T, S) used to compute it, as does
  // torch.nn.MultiheadAttention with need_weights = True and average_attn_weights = False.
  AttentionResult with_weights(In x, In memory, const AttentionMask& mask = {},
                               const TrainingMode* training = nullptr) const;

  // The queries of x (B, T, C), and the keys and values of memory (B, S, C). `first` is the
  // position of the first row of x and of memory.
  Projections project(In x, In memory, std::size_t first = 0) const;

  std::size_t num_heads;         // H, the number of heads
  std::size_t num_kv_heads;      // heads of keys and values: H unless queries are grouped
  std::size_t head_dim;          // D, the width of a head
  bool rotary;                   // whether queries and keys are rotated
  RotaryOptions rotary_options;  // how they are rotated
  Linear query;                  // weight (H D, C)
  Linear key, value;             // weights (num_kv_heads D, C)
  Linear out;                    // weight (C, H D)

 private:
  Tensor attend(In x, In memory, const AttentionMask& mask, const TrainingMode* training) const;
  AttentionOptions options(const AttentionMask& mask) const;
  Tensor rotated(In x, std::size_t heads, std::size_t first) const;
};

}  // namespace HEED_NAMESPACE::nn
