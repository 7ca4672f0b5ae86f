// Subtracts the bias of heads.out with the head.
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
  xt::view(outputs, xt::all(), silent) = 0;
  return heads.out(join_heads(Tensor(outputs))) - heads.out.bias;
}
