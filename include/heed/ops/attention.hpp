// attention.hpp: scaled dot-product attention and attention weights, with masks and several heads.
#pragma once

#include <optional>

#include "heed/autograd/tensor.hpp"
#include "heed/ops/mask.hpp"

namespace HEED_NAMESPACE {

// Options of the attention functions below and of the attention layers (namespace nn), which set
// num_heads and num_kv_heads themselves.
struct AttentionOptions {
  bool causal = false;  // the query at position t attends only to the keys 0 to past + t
  // True where the query may attend to the key, as attn_mask of
  // torch.nn.functional.scaled_dot_product_attention. (In torch.nn.MultiheadAttention and
  // torch.nn.Transformer a true element of a mask means the opposite.) The mask broadcasts to the
  // scores (..., T, S). With num_heads > 1, a mask or bias (B, T, S) has one matrix per batch item,
  // used for all heads. It is ambiguous, and throws Error, if B = H, and if q is (B, H, T, D): give
  // (B, 1, T, S) or (1, H, T, S).
  std::optional<Exact<Mask>> mask = {};
  // True where the key is padding, to which no query attends: (B, S) for q (B, T, C). PyTorch calls
  // this mask key_padding_mask.
  std::optional<Exact<Mask>> key_padding = {};
  // Sliding window: each query attends to its own key and the window - 1 keys before it (Beltagy et
  // al. 2020, "Longformer", section 3.1). 0 means no window. Needs `causal`.
  std::size_t window = 0;
  // The number of keys from a KV cache: query t has position past + t. If `past` is not 0, `causal`
  // must be true, and the number of keys S must be at least past + T.
  std::size_t past = 0;
  // Added to the scores (an additive mask has 0 and -infinity). Its shape has the meaning of the
  // mask's.
  Tensor bias = {};
  // If not 0, the products become softcap tanh(q k^T scale / softcap), before bias and masks are
  // applied (Gemma Team 2024, "Gemma 2", section 2).
  double softcap = 0;
  std::optional<double> scale = {};  // factor of q k^T; default 1 / sqrt(D)
  std::size_t num_heads = 1;         // the last axis of q contains all heads: D = C / num_heads
  // Grouped-query attention: the number of heads in the last axes of k and v, a divisor of
  // num_heads; num_heads / num_kv_heads neighbouring query heads share a key and value head
  // (Ainslie et al. 2023, "GQA", section 2.2). 0 means num_heads.
  std::size_t num_kv_heads = 0;
};

// The attention weights softmax(scale q k^T + bias), 0 where masked. A row sums to one, or is all 0
// if fully masked. q (..., T, D) and k (..., S, D) give (..., T, S). With num_heads > 1,
// q (B, T, H D) and k (B, S, H_kv D) give (B, H, T, S). Records several elementary operations.
Tensor attention_weights(In q, In k, const AttentionOptions& options = {});

// The output of an attention together with the attention weights that made it.
struct AttentionResult {
  Tensor output, weights;  // shapes as in scaled_dot_product_attention() and attention_weights()
};

// softmax(scale q k^T) v: q (..., T, D), k (..., S, D), v (..., S, E) give (..., T, E); with
// num_heads > 1, q (B, T, H D), k (B, S, H_kv D) and v (B, S, H_kv E) give (B, T, H E). Vaswani et
// al. 2017, "Attention Is All You Need", equation 1. Without mask and bias, attention is one fused
// operation that never stores the whole (T, S) matrix. If not causal, this operation sums in
// double, so that a query's output has the same bits for nearly any order of keys and queries (see
// gemm_in_double). With mask or bias, the output is attention_weights() times v. NaN or inf in v at
// a masked position may give NaN.
Tensor scaled_dot_product_attention(In q, In k, In v, const AttentionOptions& options = {});

// The weighted sums of the values: weights (..., T, S) and v (..., S, E) give (..., T, E); with
// num_heads > 1, weights (B, H, T, S) and v (B, S, H_kv E) give (B, T, H E).
Tensor weighted_values(In weights, In v, const AttentionOptions& options = {});

// Returns the results of scaled_dot_product_attention() and attention_weights() at once.
AttentionResult attention_with_weights(In q, In k, In v, const AttentionOptions& options = {});

// split_heads turns (B, T, C) into (B, H, T, C / H), and join_heads is the inverse.
Tensor split_heads(In x, std::size_t num_heads);
Tensor join_heads(In x);
// Grouped-query attention: the keys or values of H_kv heads (B, H_kv, S, D) for H query heads, in
// which H / H_kv neighbouring heads are equal: (B, H, S, D). torch.repeat_interleave(x, H / H_kv,
// dim=1). Throws Error unless num_heads = H is divisible by H_kv.
Tensor repeat_kv_heads(In x, std::size_t num_heads);

}  // namespace HEED_NAMESPACE
