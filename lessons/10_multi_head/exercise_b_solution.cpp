// 10b silence_a_head: ablation of one head of multi-head attention.
//
// To ablate a head is to replace its output by zeros. The change of the model's output then shows
// what the head contributes (lesson 16). without_head computes the output of heads(x, mask) with
// head number `silent` ablated: x (B, T, C) -> (B, T, C). The other heads and the bias of heads.out
// stay as they are, and heads itself must not change.
//
// You may use heads.num_heads, heads.query, heads.key, heads.value, heads.out, the attention
// weights heads.weights(x, x, mask) (B, H, T, T), and split_heads and join_heads of
// include/heed/ops/attention.hpp. As handed out, no head is ablated.

#include "exercise.hpp"
#include "heed/nn/attention.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/attention.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/shape.hpp"

using namespace heed;

// Your part begins here.
Tensor without_head(const nn::MultiHeadAttention& heads, const Tensor& x,
                    const nn::AttentionMask& mask, std::size_t silent) {
  const Tensor weights = heads.weights(x, x, mask);                    // (B, H, T, T)
  const Tensor values = split_heads(heads.value(x), heads.num_heads);  // (B, H, T, C / H)
  Array outputs = matmul(weights, values).value();
  xt::view(outputs, xt::all(), silent) = 0;
  return heads.out(join_heads(Tensor(outputs)));
}
// Your part ends here.
