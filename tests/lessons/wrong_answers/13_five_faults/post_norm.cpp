// Normalises after each residual connection, as in the paper of 2017, not before.
#include "exercise.hpp"
#include "heed/nn/gpt.hpp"
#include "heed/ops/activation.hpp"
#include "heed/ops/arithmetic.hpp"

using namespace heed;

Tensor transformer_block(const nn::Norm& norm1, const nn::MultiHeadAttention& attention,
                         const nn::Norm& norm2, const nn::Linear& up, const nn::Linear& down,
                         const Tensor& x) {
  nn::AttentionMask mask;
  mask.causal = true;
  const Tensor y = norm1(x + attention(x, mask));
  return norm2(y + down(gelu(up(y))));
}
