// 11 silence_a_head: what comes out of several heads when one of them says nothing.
//
// without_head gives what heads(x, visible) would give if head number `silent` heard zeros instead
// of values: x (B, T, C) -> (B, T, C). The others go on as before, the bias of heads.out stays, and
// heads itself must not change. To leave a head out and look at what goes wrong is how one finds
// out what it does.
//
// heads.num_heads, heads.query, heads.key, heads.value and heads.out are yours to use, and so are
// heads.weights(x, x, visible), the shares (B, H, T, T), and split_heads and join_heads of
// include/heed/ops/attention.hpp. As it stands, nobody is silent.

#include "exercise.hpp"
#include "heed/nn/attention.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/attention.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/shape.hpp"

using namespace heed;

// Your part begins here.
Tensor without_head(const nn::MultiHeadAttention& heads, const Tensor& x,
                    const nn::AttentionMask& visible, std::size_t silent) {
  (void)silent;
  return heads(x, visible);
}
// Your part ends here.
