// block.hpp: attend, then think; each step added to what was there.
#pragma once

#include "heed/nn/attention.hpp"
#include "heed/nn/layer_norm.hpp"
#include "heed/nn/linear.hpp"
#include "heed/ops/activation.hpp"

namespace heed::nn {

// Two linear layers, four times as wide in between.
struct Mlp {
  Mlp(Scope scope, std::size_t embed_dim, bool with_bias = true, Gelu form = Gelu::erf);

  Tensor operator()(const Tensor& x) const;  // (..., C) -> (..., C)

  Linear up;    // (4C, C)
  Linear down;  // (C, 4C)
  Gelu gelu_form;
};

// x = x + attention(norm(x)); x = x + mlp(norm(x)): GPT-2's order, norms first.
// Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.3.
struct Block {
  Block(Scope scope, std::size_t embed_dim, std::size_t num_heads, bool with_bias = true,
        Gelu form = Gelu::erf);

  Tensor operator()(const Tensor& x, const AttentionMask& visible = {},
                    const TrainingMode* training = nullptr) const;  // (B, T, C) -> (B, T, C)
  // Of rows that follow those in the cache, and join them: (1, T, C) -> (1, T, C).
  Tensor operator()(const Tensor& x, KeyValueCache& cache) const;

  LayerNorm norm1;
  MultiHeadAttention attention;
  LayerNorm norm2;
  Mlp mlp;
};

}  // namespace heed::nn
