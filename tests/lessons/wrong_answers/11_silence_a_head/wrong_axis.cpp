// Zeroes a position instead of a head: the axes are taken as (B, T, H, C / H).
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
  Array outputs = matmul(weights, values).value();
  xt::view(outputs, xt::all(), xt::all(), silent % outputs.shape(2)) = 0;
  return heads.out(join_heads(Tensor(outputs)));
}
