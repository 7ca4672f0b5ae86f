// block.hpp: the pre-norm transformer block and its MLP.
#pragma once

#include "heed/nn/attention.hpp"
#include "heed/nn/layer_norm.hpp"
#include "heed/nn/linear.hpp"
#include "heed/ops/activation.hpp"

namespace HEED_NAMESPACE::nn {

// The feed-forward network: linear (C to 4C), GELU, linear (4C to C).
struct Mlp {
  Mlp(Scope scope, std::size_t embed_dim, bool with_bias = true, Gelu form = Gelu::erf);

  Tensor operator()(const Tensor& x) const;  // (..., C) -> (..., C)

  Linear up;    // (4C, C)
  Linear down;  // (C, 4C)
  Gelu gelu_form;
};

// x = x + attention(norm1(x)); x = x + mlp(norm2(x)): residual connections and pre-norm, as GPT-2.
// Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.3.
struct Block {
  Block(Scope scope, std::size_t embed_dim, std::size_t num_heads, bool with_bias = true,
        Gelu form = Gelu::erf);

  Tensor operator()(const Tensor& x, const AttentionMask& mask = {},
                    const TrainingMode* training = nullptr) const;  // (B, T, C) -> (B, T, C)
  // With a cache, as in MultiHeadAttention: (1, T, C) -> (1, T, C).
  Tensor operator()(const Tensor& x, KeyValueCache& cache) const;

  LayerNorm norm1;
  MultiHeadAttention attention;
  LayerNorm norm2;
  Mlp mlp;
};

}  // namespace HEED_NAMESPACE::nn
