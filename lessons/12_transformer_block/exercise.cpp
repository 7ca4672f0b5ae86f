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
Tensor transformer_block(const nn::Norm& norm1, const Attention& attention,
                         [[maybe_unused]] const nn::Norm& norm2, const nn::Linear& up,
                         const nn::Linear& down, const Tensor& x) {
  const Tensor normed = norm1(x);
  const Tensor y = normed + attention(normed);
  return x + down(relu(up(norm1(y))));
}
// Your part ends here.
