// 13 four_faults: a transformer block in which four things are wrong.
//
// through shall give what the lesson's block gives for x (B, T, C), in which row t may look at the
// rows 0 to t only:
//   x = x + attention(norm(x))
//   x = x + mlp(norm(x))
// where mlp is a linear layer, a bend (GELU) and a linear layer. What is below runs, has the right
// shape, and would even learn something. But somebody wrote it in a hurry.
// Hint: What is added to: what came in, or something made of it?
// Hint: nn::Visible says who may look where; a block has two norms, each with weights of its own.
// Hint: gelu(x) is the bend. Two linear layers without one are a single linear layer.

#include "exercise.hpp"
#include "heed/nn/gpt.hpp"
#include "heed/ops/activation.hpp"
#include "heed/ops/arithmetic.hpp"

using namespace heed;

// Your part begins here.
Tensor through(const nn::Block& block, const Tensor& x) {
  nn::AttentionMask past;
  past.causal = true;
  const Tensor attended = x + block.attention(block.norm1(x), past);
  const Tensor ready = block.norm2(attended);
  return attended + block.mlp.down(gelu(block.mlp.up(ready)));
}
// Your part ends here.
