// Zeroes columns after heads.out, which has already mixed the heads.
#include "exercise.hpp"
#include "heed/nn/attention.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/attention.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/shape.hpp"

using namespace heed;

Tensor without_head(const nn::MultiHeadAttention& heads, const Tensor& x,
                    const nn::AttentionMask& mask, std::size_t silent) {
  const Tensor weights = heads.weights(x, x, mask);                        // (B, H, T, T)
  const Tensor values = split_heads(heads.value(x), heads.num_heads);      // (B, H, T, C / H)
  Array outputs = heads.out(join_heads(matmul(weights, values))).value();  // (B, T, C)
  const std::size_t width = outputs.shape(2) / heads.num_heads;
  xt::view(outputs, xt::all(), xt::all(), xt::range(silent * width, (silent + 1) * width)) = 0;
  return Tensor(outputs);
}
