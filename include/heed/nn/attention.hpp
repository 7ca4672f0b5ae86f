// attention.hpp: one head that asks and answers, and several side by side.
#pragma once

#include <optional>

#include "heed/nn/linear.hpp"
#include "heed/ops/attention.hpp"

namespace heed::nn {

// What a layer does while training only: drop values by chance. Without one (the default of every
// forward pass) nothing is dropped.
struct TrainingMode {
  double dropout = 0;
  Generator* generator = nullptr;
};
Tensor dropout(const Tensor& x, const TrainingMode* training,
               SourceLocation location = SourceLocation::current());

// Which places a head may look at.
struct AttentionMask {
  bool causal = false;  // row t sees columns 0 to t
  // True: may be seen. Broadcasts to the scores: (B, T, S) of one head, (B, H, T, S) of several.
  std::optional<Mask> mask;
};

// The keys and values of the rows that self-attention has read so far, so that a row after them
// costs no more than itself.
struct KeyValueCache {
  // For up to `rows` rows, none of them read.
  KeyValueCache(std::size_t rows, std::size_t embed_dim);
  KeyValueCache(KeyValueCache&&) = default;  // a copy would share keys and values
  KeyValueCache& operator=(KeyValueCache&&) = default;

  Tensor keys, values;   // (1, S, C), S being `rows`; only the first `size` rows are in use
  std::size_t size = 0;  // rows read
};

// One head: three projections without bias, and attention between them.
struct AttentionHead {
  AttentionHead(Scope scope, std::size_t embed_dim, std::size_t head_size);

  // x (B, T, C) -> (B, T, head_size)
  Tensor operator()(const Tensor& x, const AttentionMask& visible = {}) const;
  // The shares each row gives to the others: (B, T, T).
  Tensor weights(const Tensor& x, const AttentionMask& visible = {}) const;

  Linear query, key, value;
};

// H heads of width C / H, their outputs side by side, and a projection that mixes them.
struct MultiHeadAttention {
  // Throws Error unless embed_dim is divisible by num_heads, with both numbers.
  MultiHeadAttention(Scope scope, std::size_t embed_dim, std::size_t num_heads,
                     bool with_bias = true);

  // Self-attention: x (B, T, C) asks itself.
  Tensor operator()(const Tensor& x, const AttentionMask& visible = {},
                    const TrainingMode* training = nullptr) const;
  // Cross-attention: x (B, T, C) asks memory (B, S, C). Gives (B, T, C).
  Tensor operator()(const Tensor& x, const Tensor& memory, const AttentionMask& visible = {},
                    const TrainingMode* training = nullptr) const;
  // Causal self-attention of rows that follow those in the cache: x (1, T, C) sees them and itself,
  // then joins them. Gives (1, T, C). Nothing can be learned through a cache: throws Error without
  // NoGrad, or when the cache has too little room left.
  Tensor operator()(const Tensor& x, KeyValueCache& cache) const;
  // The shares of every head: (B, H, T, S).
  Tensor weights(const Tensor& x, const Tensor& memory, const AttentionMask& visible = {}) const;

  std::size_t num_heads;
  Linear query, key, value, out;
};

}  // namespace heed::nn
