// Ablates by uniform attention weights: the head still adds the mean of its values.
#include "exercise.hpp"
#include "heed/nn/attention.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/attention.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/shape.hpp"

using namespace heed;

Tensor without_head(const nn::MultiHeadAttention& heads, const Tensor& x,
                    const nn::AttentionMask& mask, std::size_t silent) {
  const Tensor weights = heads.weights(x, x, mask);                    // (B, H, T, T)
  const Tensor values = split_heads(heads.value(x), heads.num_heads);  // (B, H, T, C / H)
  Array p = weights.value();
  xt::view(p, xt::all(), silent) = 1 / Real(p.shape(3));
  Array outputs = matmul(Tensor(p), values).value();
  return heads.out(join_heads(Tensor(outputs)));
}
