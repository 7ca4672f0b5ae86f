// block.cpp: the pre-norm transformer block and its MLP.

#include "heed/nn/block.hpp"

#include "heed/ops/arithmetic.hpp"

namespace HEED_NAMESPACE::nn {

Mlp::Mlp(Scope scope, std::size_t embed_dim, bool with_bias, Gelu form)
    : up(scope / "up", embed_dim, 4 * embed_dim, with_bias),
      down((scope / "down").ends_residual(), 4 * embed_dim, embed_dim, with_bias),
      gelu_form(form) {}

Tensor Mlp::operator()(const Tensor& x) const { return down(gelu(up(x), gelu_form)); }

Block::Block(Scope scope, std::size_t embed_dim, std::size_t num_heads, bool with_bias, Gelu form)
    : norm1(scope / "norm1", embed_dim, with_bias),
      attention(scope / "attention", embed_dim, num_heads, with_bias),
      norm2(scope / "norm2", embed_dim, with_bias),
      mlp(scope / "mlp", embed_dim, with_bias, form) {}

Tensor Block::operator()(const Tensor& x, const AttentionMask& mask,
                         const TrainingMode* training) const {
  const Tensor attended = x + dropout(attention(norm1(x), mask, training), training);
  return attended + dropout(mlp(norm2(attended)), training);
}

Tensor Block::operator()(const Tensor& x, KeyValueCache& cache) const {
  const Tensor attended = x + attention(norm1(x), cache);
  return attended + mlp(norm2(attended));
}

}  // namespace HEED_NAMESPACE::nn
