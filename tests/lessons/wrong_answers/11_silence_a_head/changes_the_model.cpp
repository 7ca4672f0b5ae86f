// Zeroes the value projection of the head in the model itself, and does not restore it.
#include "exercise.hpp"
#include "heed/nn/attention.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/attention.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/shape.hpp"

using namespace heed;

Tensor without_head(const nn::MultiHeadAttention& heads, const Tensor& x,
                    const nn::AttentionMask& mask, std::size_t silent) {
  const std::size_t width = x.shape()[2] / heads.num_heads;
  for (Tensor p : {heads.value.weight, heads.value.bias})
    xt::view(p.mutable_value(), xt::range(silent * width, (silent + 1) * width)) = 0;
  const Tensor weights = heads.weights(x, x, mask);                    // (B, H, T, T)
  const Tensor values = split_heads(heads.value(x), heads.num_heads);  // (B, H, T, C / H)
  const Array outputs = matmul(weights, values).value();
  return heads.out(join_heads(Tensor(outputs)));
}
