// attention.cpp: one head that asks and answers, and several side by side.

#include "heed/nn/attention.hpp"

#include <algorithm>

#include "heed/base/error.hpp"
#include "heed/ops/mask.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/shape.hpp"

namespace heed::nn {

Tensor dropout(const Tensor& x, const TrainingMode* training, SourceLocation location) {
  if (training == nullptr || training->dropout == 0) return x;
  if (training->generator == nullptr)
    throw_error("dropout: training needs a generator to draw from");
  return heed::dropout(x, training->dropout, *training->generator, location);
}

static AttentionOptions attention_options(const AttentionMask& visible, std::size_t num_heads) {
  AttentionOptions options;
  options.causal = visible.causal;
  options.mask = visible.mask;
  options.num_heads = num_heads;
  if (num_heads == 1 && options.mask && options.mask->dimension() == 4) {  // (B, 1, T, S)
    const Shape four = shape_of(*options.mask);
    if (four[1] == 1) options.mask->reshape({four[0], four[2], four[3]});
  }
  return options;
}

KeyValueCache::KeyValueCache(std::size_t rows, std::size_t embed_dim)
    : keys(zeros({1, rows, embed_dim})), values(zeros({1, rows, embed_dim})) {}

AttentionHead::AttentionHead(Scope scope, std::size_t embed_dim, std::size_t head_size)
    : query(scope / "query", embed_dim, head_size, false),
      key(scope / "key", embed_dim, head_size, false),
      value(scope / "value", embed_dim, head_size, false) {}

Tensor AttentionHead::operator()(const Tensor& x, const AttentionMask& visible) const {
  return scaled_dot_product_attention(query(x), key(x), value(x), attention_options(visible, 1));
}

Tensor AttentionHead::weights(const Tensor& x, const AttentionMask& visible) const {
  return attention_weights(query(x), key(x), attention_options(visible, 1));
}

static std::size_t checked_heads(std::size_t embed_dim, std::size_t num_heads) {
  if (num_heads == 0 || embed_dim % num_heads != 0)
    throw_error("MultiHeadAttention: embed_dim ", embed_dim, " must be divisible by num_heads ",
                num_heads);
  return num_heads;
}

MultiHeadAttention::MultiHeadAttention(Scope scope, std::size_t embed_dim, std::size_t heads,
                                       bool with_bias)
    : num_heads(checked_heads(embed_dim, heads)),
      query(scope / "query", embed_dim, embed_dim, with_bias),
      key(scope / "key", embed_dim, embed_dim, with_bias),
      value(scope / "value", embed_dim, embed_dim, with_bias),
      out(scope / "out", embed_dim, embed_dim, with_bias) {}

Tensor MultiHeadAttention::operator()(const Tensor& x, const AttentionMask& visible,
                                      const TrainingMode* training) const {
  return (*this)(x, x, visible, training);
}

Tensor MultiHeadAttention::operator()(const Tensor& x, const Tensor& memory,
                                      const AttentionMask& visible,
                                      const TrainingMode* training) const {
  const Tensor q = query(x), k = key(memory), v = value(memory);  // (B, T, C), twice (B, S, C)
  const AttentionOptions options = attention_options(visible, num_heads);
  if (training == nullptr || training->dropout == 0)
    return out(scaled_dot_product_attention(q, k, v, options));
  // Dropping shares needs them written out: the same attention in plain operations.
  const Tensor shares = dropout(attention_weights(q, k, options), training);  // (B, H, T, S)
  return out(num_heads == 1 ? matmul(shares, v)
                            : join_heads(matmul(shares, split_heads(v, num_heads))));
}

static void check_memory(const Tensor& x, const KeyValueCache& cache) {
  if (grad_enabled())
    throw_error("MultiHeadAttention: with a cache nothing is learned; use NoGrad");
  const Shape& places = cache.keys.shape();  // (1, S, C)
  if (x.dim() != 3 || x.shape()[0] != 1 || x.shape()[2] != places[2] ||
      x.shape()[1] > places[1] - cache.size)
    throw_error("MultiHeadAttention: ", describe(x, "x"), " does not fit after the ", cache.size,
                " rows of a cache ", str(places));
}

static void put(Tensor rows, std::size_t at, const Tensor& x) {
  std::copy_n(x.value().data(), x.value().size(),
              rows.mutable_value().data() + at * x.shape().back());
}

Tensor MultiHeadAttention::operator()(const Tensor& x, KeyValueCache& cache) const {
  check_memory(x, cache);
  put(cache.keys, cache.size, key(x));
  put(cache.values, cache.size, value(x));
  AttentionOptions options;
  options.causal = true;
  options.past = cache.size;
  options.num_heads = num_heads;
  cache.size += x.shape()[1];
  return out(scaled_dot_product_attention(query(x), cache.keys, cache.values, options));
}

Tensor MultiHeadAttention::weights(const Tensor& x, const Tensor& memory,
                                   const AttentionMask& visible) const {
  const Tensor shares =
      attention_weights(query(x), key(memory), attention_options(visible, num_heads));
  return num_heads == 1 ? unsqueeze(shares, 1) : shares;
}

}  // namespace heed::nn
