// 12 five_faults: find five faults in a transformer block.
//
// `transformer_block` must return what the lesson's block returns for x (B, T, C) with a causal
// mask. It gets the parts of the block: two layer norms, the attention, and the two linear layers
// of the MLP. The function below runs and its result has the right shape, but it has five faults.
// With this exercise and exercise 10 solved, `./heed train --mine` trains a GPT with your parts.

#include "exercise.hpp"
#include "exercise_attention.hpp"
#include "heed/nn/gpt.hpp"
#include "heed/ops/activation.hpp"
#include "heed/ops/arithmetic.hpp"

using namespace heed;

// Your part begins here.
Tensor transformer_block(const nn::Norm& norm1, const Attention& attention, const nn::Norm& norm2,
                         const nn::Linear& up, const nn::Linear& down, const Tensor& x) {
  nn::AttentionMask mask;
  mask.causal = true;
  const Tensor y = x + attention(norm1(x), mask);
  return y + down(gelu(up(norm2(y))));
}
// Your part ends here.
