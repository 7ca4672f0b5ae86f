// attention.cpp: the AttentionHead and MultiHeadAttention modules.

#include "heed/nn/attention.hpp"

#include <algorithm>

#include "heed/base/error.hpp"
#include "heed/ops/mask.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/shape.hpp"

namespace HEED_NAMESPACE::nn {

Tensor dropout(const Tensor& x, const TrainingMode* training, SourceLocation location) {
  const CallSite site(location);
  if (training == nullptr || training->dropout == 0) return x;
  if (training->generator == nullptr)
    throw_error("dropout: training needs a generator to draw from");
  return heed::dropout(x, training->dropout, *training->generator, location);
}

// True where the query may attend to the key: where `mask` is true and the key is not padding.
// mask (B, T, S), (B, H, T, S) or none, padding (B, S) -> (B, 1 or H, T or 1, S)
static Mask without_padding(std::optional<Mask> mask, const Mask& padding, const Tensor& keys) {
  const Shape shape = shape_of(padding), key_shape = keys.shape();
  if (shape.size() != 2 || key_shape.size() < 2 || shape[0] != key_shape[0] ||
      shape[1] != key_shape[1])
    throw_error("attention: key_padding ", str(shape), " must be (B, S) of ",
                describe(keys, "the keys"));
  Mask visible = padding;
  for (bool& element : visible) element = !element;
  visible.reshape({shape[0], std::size_t{1}, std::size_t{1}, shape[1]});
  if (!mask) return visible;
  if (mask->dimension() == 3)
    mask->reshape({mask->shape()[0], std::size_t{1}, mask->shape()[1], mask->shape()[2]});
  if (!broadcast_shape(shape_of(*mask), shape_of(visible)))
    throw_error("attention: mask ", str(shape_of(*mask)), " does not broadcast with key_padding ",
                str(shape));
  return Mask(*mask && visible);
}

static AttentionOptions attention_options(const AttentionMask& mask, std::size_t num_heads,
                                          const Tensor& keys) {
  AttentionOptions options;
  options.causal = mask.causal;
  options.mask = mask.mask;
  options.num_heads = num_heads;
  if (mask.key_padding) options.mask = without_padding(mask.mask, *mask.key_padding, keys);
  if (num_heads == 1 && options.mask && options.mask->dimension() == 4) {  // (B, 1, T, S)
    const Shape shape = shape_of(*options.mask);
    if (shape[1] == 1) options.mask->reshape({shape[0], shape[2], shape[3]});
  }
  return options;
}

KeyValueCache::KeyValueCache(std::size_t positions, std::size_t embed_dim)
    : keys(zeros({1, positions, embed_dim})), values(zeros({1, positions, embed_dim})) {}

AttentionHead::AttentionHead(Scope scope, std::size_t embed_dim, std::size_t head_size)
    : query(scope / "query", embed_dim, head_size, false),
      key(scope / "key", embed_dim, head_size, false),
      value(scope / "value", embed_dim, head_size, false) {}

Tensor AttentionHead::operator()(const Tensor& x, const AttentionMask& mask,
                                 SourceLocation location) const {
  const CallSite site(location);
  return scaled_dot_product_attention(query(x), key(x), value(x), attention_options(mask, 1, x));
}

Tensor AttentionHead::weights(const Tensor& x, const AttentionMask& mask,
                              SourceLocation location) const {
  const CallSite site(location);
  return attention_weights(query(x), key(x), attention_options(mask, 1, x));
}

static std::size_t checked_heads(const Scope& scope, std::size_t embed_dim, std::size_t num_heads) {
  const CallSite site(scope.location);
  if (num_heads == 0 || embed_dim % num_heads != 0)
    throw_error("MultiHeadAttention: embed_dim ", embed_dim, " must be divisible by num_heads ",
                num_heads);
  return num_heads;
}

MultiHeadAttention::MultiHeadAttention(Scope scope, std::size_t embed_dim, std::size_t heads,
                                       bool with_bias)
    : num_heads(checked_heads(scope, embed_dim, heads)),
      query(scope / "query", embed_dim, embed_dim, with_bias),
      key(scope / "key", embed_dim, embed_dim, with_bias),
      value(scope / "value", embed_dim, embed_dim, with_bias),
      out((scope / "out").ends_residual(), embed_dim, embed_dim, with_bias) {}

Tensor MultiHeadAttention::operator()(const Tensor& x, const AttentionMask& mask,
                                      const TrainingMode* training, SourceLocation location) const {
  return (*this)(x, x, mask, training, location);
}

Tensor MultiHeadAttention::operator()(const Tensor& x, const Tensor& memory,
                                      const AttentionMask& mask, const TrainingMode* training,
                                      SourceLocation location) const {
  const CallSite site(location);
  // Dropout needs the attention weights, which the fused operation does not store.
  if (training != nullptr && training->dropout != 0)
    return with_weights(x, memory, mask, training, location).output;
  const Tensor q = query(x), k = key(memory), v = value(memory);  // q (B, T, C); k, v (B, S, C)
  return out(scaled_dot_product_attention(q, k, v, attention_options(mask, num_heads, memory)));
}

AttentionResult MultiHeadAttention::with_weights(const Tensor& x, const Tensor& memory,
                                                 const AttentionMask& mask,
                                                 const TrainingMode* training,
                                                 SourceLocation location) const {
  const CallSite site(location);
  const Tensor q = query(x), k = key(memory), v = value(memory);  // q (B, T, C); k, v (B, S, C)
  const Tensor weights =
      dropout(attention_weights(q, k, attention_options(mask, num_heads, memory)), training);
  if (num_heads == 1) return {out(matmul(weights, v)), unsqueeze(weights, 1)};
  return {out(join_heads(matmul(weights, split_heads(v, num_heads)))), weights};
}

static void check_fits(const Tensor& x, const KeyValueCache& cache) {
  if (grad_enabled())
    throw_error("MultiHeadAttention: gradients cannot pass through a cache; use NoGrad");
  const Shape& cache_shape = cache.keys.shape();  // (1, S, C)
  if (x.dim() != 3 || x.shape()[0] != 1 || x.shape()[2] != cache_shape[2] ||
      x.shape()[1] > cache_shape[1] - cache.size)
    throw_error("MultiHeadAttention: ", describe(x, "x"), " does not fit after the ", cache.size,
                " positions of a cache ", str(cache_shape));
}

// Copies x (1, T, C) into the cached tensor (1, S, C), starting at `position` of its axis 1.
static void write_at(Tensor cached, std::size_t position, const Tensor& x) {
  std::copy_n(x.value().data(), x.value().size(),
              cached.mutable_value().data() + position * x.shape().back());
}

Tensor MultiHeadAttention::operator()(const Tensor& x, KeyValueCache& cache,
                                      SourceLocation location) const {
  const CallSite site(location);
  check_fits(x, cache);
  write_at(cache.keys, cache.size, key(x));
  write_at(cache.values, cache.size, value(x));
  AttentionOptions options = attention_options({/*causal=*/true, {}, {}}, num_heads, x);
  options.past = cache.size;
  cache.size += x.shape()[1];
  return out(scaled_dot_product_attention(query(x), cache.keys, cache.values, options));
}

Tensor MultiHeadAttention::weights(const Tensor& x, const Tensor& memory, const AttentionMask& mask,
                                   SourceLocation location) const {
  const CallSite site(location);
  const Tensor attention =
      attention_weights(query(x), key(memory), attention_options(mask, num_heads, memory));
  return num_heads == 1 ? unsqueeze(attention, 1) : attention;
}

}  // namespace HEED_NAMESPACE::nn
