// attention.cpp: the AttentionHead and MultiHeadAttention modules.

#include "heed/nn/attention.hpp"

#include <algorithm>

#include "heed/base/error.hpp"
#include "heed/ops/mask.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/shape.hpp"
#include "nn/layer_name.hpp"

namespace HEED_NAMESPACE::nn {

Tensor dropout(In x, const TrainingMode* training) {
  if (training == nullptr || training->dropout == 0) return x;
  if (training->generator == nullptr)
    throw_error("dropout: training needs a generator to draw from");
  return heed::dropout(x, training->dropout, *training->generator);
}

KeyValueCache::KeyValueCache(std::size_t positions, std::size_t width, std::size_t batch)
    : keys(zeros({batch, positions, width})), values(zeros({batch, positions, width})) {}

AttentionHead::AttentionHead(Scope scope, std::size_t embed_dim, std::size_t head_size)
    : query(scope / "query", embed_dim, head_size, false),
      key(scope / "key", embed_dim, head_size, false),
      value(scope / "value", embed_dim, head_size, false) {}

// The options with the layer's num_heads and num_kv_heads.
static AttentionOptions with_heads(AttentionOptions options, std::size_t num_heads,
                                   std::size_t num_kv_heads) {
  options.num_heads = num_heads;
  options.num_kv_heads = num_kv_heads;
  return options;
}

Tensor AttentionHead::operator()(In x, const AttentionMask& mask) const {
  const AttentionOptions options = with_heads(mask, 1, 1);
  return named_by_layer(scaled_dot_product_attention(query(x), key(x), value(x), options),
                        query.weight, 2);
}

Tensor AttentionHead::weights(In x, const AttentionMask& mask) const {
  return attention_weights(query(x), key(x), with_heads(mask, 1, 1));
}

static std::size_t checked_heads(const Scope& scope, std::size_t embed_dim, std::size_t num_heads,
                                 const AttentionVariant& variant) {
  const CallSite site(scope.location);
  scope.checked_size("MultiHeadAttention", "embed_dim", embed_dim);
  scope.checked_size("MultiHeadAttention", "num_heads", num_heads);
  scope.checked_size("MultiHeadAttention", "head_dim", variant.head_dim);
  if (num_heads == 0 || (variant.head_dim == 0 && embed_dim % num_heads != 0))
    throw_error("MultiHeadAttention: embed_dim ", embed_dim, " must be divisible by num_heads ",
                num_heads);
  if (variant.num_kv_heads != 0 && num_heads % variant.num_kv_heads != 0)
    throw_error("MultiHeadAttention: num_heads ", num_heads, " must be divisible by num_kv_heads ",
                variant.num_kv_heads);
  const std::size_t head_dim = variant.head_dim == 0 ? embed_dim / num_heads : variant.head_dim;
  if (variant.rotary && variant.rotary_options.dim == 0 && head_dim % 2 != 0)
    throw_error("MultiHeadAttention: rotary embedding needs heads of even width: ",
                variant.head_dim == 0 ? "embed_dim " : "head_dim ",
                variant.head_dim == 0 ? embed_dim : head_dim, ", num_heads ", num_heads);
  return num_heads;
}

MultiHeadAttention::MultiHeadAttention(Scope scope, std::size_t embed_dim, std::size_t heads,
                                       Bool with_bias, AttentionVariant variant)
    : num_heads(checked_heads(scope, embed_dim, heads, variant)),
      num_kv_heads(variant.num_kv_heads == 0 ? heads : variant.num_kv_heads),
      head_dim(variant.head_dim == 0 ? embed_dim / heads : variant.head_dim),
      rotary(variant.rotary),
      rotary_options(variant.rotary_options),
      query(scope / "query", embed_dim, heads * head_dim, with_bias || variant.qkv_bias),
      key(scope / "key", embed_dim, num_kv_heads * head_dim, with_bias || variant.qkv_bias),
      value(scope / "value", embed_dim, num_kv_heads * head_dim, with_bias || variant.qkv_bias),
      out((scope / "out").ends_residual(), heads * head_dim, embed_dim, with_bias) {}

Projections MultiHeadAttention::project(In x, In memory, std::size_t first) const {
  return {rotated(query(x), num_heads, first), rotated(key(memory), num_kv_heads, first),
          value(memory)};
}

Tensor MultiHeadAttention::rotated(In x, std::size_t heads, std::size_t first) const {
  return rotary ? rotary_embedding(x, heads, first, rotary_options) : x;
}

AttentionOptions MultiHeadAttention::options(const AttentionMask& mask) const {
  return with_heads(mask, num_heads, num_kv_heads);
}

Tensor MultiHeadAttention::operator()(In x, const AttentionMask& mask,
                                      const TrainingMode* training) const {
  return attend(x, x, mask, training);
}

Tensor MultiHeadAttention::attend(In x, In memory, const AttentionMask& mask,
                                  const TrainingMode* training) const {
  // Dropout needs the attention weights, which the fused operation does not store.
  if (training != nullptr && training->dropout != 0)
    return with_weights(x, memory, mask, training).output;
  const Projections p = project(x, memory);
  return out(named_by_layer(scaled_dot_product_attention(p.query, p.key, p.value, options(mask)),
                            query.weight, 2));
}

AttentionResult MultiHeadAttention::with_weights(In x, In memory, const AttentionMask& mask,
                                                 const TrainingMode* training) const {
  const Projections p = project(x, memory);
  const AttentionOptions settings = options(mask);
  const Tensor weights = dropout(attention_weights(p.query, p.key, settings), training);
  return {out(weighted_values(weights, p.value, settings)),
          num_heads == 1 ? unsqueeze(weights, 1) : weights};
}

// Checks that x (B, T, C) can follow the positions in the cache of `attention`.
static void check_fits(const MultiHeadAttention& attention, const Tensor& x,
                       const KeyValueCache& cache) {
  if (grad_enabled())
    throw_error("MultiHeadAttention: gradients cannot pass through a cache; use NoGrad");
  const Shape& cache_shape = cache.keys.shape();  // (B, S, C)
  if (cache.values.shape() != cache_shape)
    throw_error("MultiHeadAttention: the cache has keys ", str(cache_shape), " and values ",
                str(cache.values.shape()), "; make a new KeyValueCache");
  if (x.dim() != 3 || x.shape()[0] != cache_shape[0] ||
      x.shape()[2] != attention.query.in_features() ||
      attention.key.out_features() != cache_shape[2] || cache.size > cache_shape[1] ||
      x.shape()[1] > cache_shape[1] - cache.size)
    throw_error("MultiHeadAttention: ", describe(x, "x"), " does not fit after the ", cache.size,
                " positions of a cache ", str(cache_shape));
}

// Copies x (B, T, C) into the cached tensor (B, S, C), starting at index `position` of axis 1.
static void write_at(Tensor cached, std::size_t position, const Tensor& x) {
  const std::size_t B = x.shape()[0], TC = x.shape()[1] * x.shape()[2];
  const std::size_t SC = cached.shape()[1] * cached.shape()[2];
  Real* const to = cached.mutable_value().data() + position * x.shape()[2];
  for (std::size_t b = 0; b < B; ++b) std::copy_n(x.value().data() + b * TC, TC, to + b * SC);
}

Tensor MultiHeadAttention::operator()(In x, KeyValueCache& cache) const {
  check_fits(*this, x, cache);
  const Projections p = project(x, x, cache.size);
  write_at(cache.keys, cache.size, p.key);
  write_at(cache.values, cache.size, p.value);
  AttentionOptions causal = options({/*causal=*/true});
  causal.past = cache.size;
  cache.size += x.shape()[1];
  return out(scaled_dot_product_attention(p.query, cache.keys, cache.values, causal));
}

Tensor MultiHeadAttention::weights(In x, In memory, const AttentionMask& mask) const {
  const Tensor attention = attention_weights(rotated(query(x), num_heads, 0),
                                             rotated(key(memory), num_kv_heads, 0), options(mask));
  return num_heads == 1 ? unsqueeze(attention, 1) : attention;
}

}  // namespace HEED_NAMESPACE::nn
