// block.hpp: the feed-forward network and the transformer block, which GPT, Llama and BERT share.
#pragma once

#include <optional>

#include "heed/nn/attention.hpp"
#include "heed/nn/layers.hpp"
#include "heed/ops/activation.hpp"

namespace HEED_NAMESPACE::nn {

struct GptConfig;

// The kinds of feed-forward network and of positions: those of GPT-2 come first, those of Llama
// second (Touvron et al. 2023, "LLaMA: Open and Efficient Foundation Language Models",
// section 2.2).
enum class MlpKind { gelu, swiglu };
enum class PositionKind { learned, rotary };

// The feed-forward network: linear (C to 4C), GELU, linear (4C to C). With MlpKind::swiglu (Shazeer
// 2020, "GLU Variants Improve Transformer", equation 6): down(silu(gate(x)) * up(x)).
struct Mlp {
  // C = embed_dim. If `with_bias` is false, the linear layers have only a weight. hidden_size 0
  // means mlp_width(C, kind).
  Mlp(Scope scope, std::size_t embed_dim, Bool with_bias = true, Gelu form = Gelu::erf,
      MlpKind kind = MlpKind::gelu, std::size_t hidden_size = 0);

  // (..., C) -> (..., C)
  Tensor operator()(In x) const;

  std::optional<Linear> gate;  // only with SwiGLU: (hidden, C)
  Linear up;                   // (hidden, C)
  Linear down;                 // (C, hidden)
  Gelu gelu_form;              // the form of GELU: exact (erf) or the tanh approximation
};

// The width of the hidden layer of an Mlp: 4C, or for SwiGLU 8C/3 rounded up to a multiple of 8, so
// that its three matrices have about as many elements as the two of GELU.
template <class Number = std::size_t>
Number mlp_width(std::size_t embed_dim, MlpKind kind = MlpKind::gelu) {
  if (kind == MlpKind::gelu) return 4 * static_cast<Number>(embed_dim);
  return 8 * static_cast<Number>(embed_dim / 3 + (embed_dim % 3 == 0 ? 0 : 1));
}

// A transformer block with residual connections, pre-norm as in GPT-2:
//   x = x + attention(norm1(x));  x = x + mlp(norm2(x))
// Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.3. With
// config.post_norm, as in BERT (Vaswani et al. 2017, section 3.1):
//   x = norm1(x + attention(x));  x = norm2(x + mlp(x))
struct Block {
  // C = embed_dim, which must be divisible by num_heads.
  Block(Scope scope, std::size_t embed_dim, std::size_t num_heads, Bool with_bias = true,
        Gelu form = Gelu::erf);
  // A block of a Gpt with this configuration.
  Block(Scope scope, const GptConfig& config);

  // (B, T, C) -> (B, T, C)
  Tensor operator()(In x, const AttentionMask& mask = {},
                    const TrainingMode* training = nullptr) const;
  // The forward pass with a key-value cache, as in MultiHeadAttention: (1, T, C) -> (1, T, C).
  Tensor operator()(In x, KeyValueCache& cache) const;

  // The input of the attention: norm1(x), or x with post-norm. (B, T, C) -> (B, T, C)
  Tensor attention_input(In x) const;
  // The output of the block for its input x and the output of its attention, both (B, T, C).
  Tensor after_attention(In x, In attention_output, const TrainingMode* training = nullptr) const;

  Norm norm1;                    // norm before the attention, or after it with post-norm
  MultiHeadAttention attention;  // self-attention
  Norm norm2;                    // norm before the MLP, or after it with post-norm
  Mlp mlp;                       // the feed-forward network
  bool post_norm = false;        // whether norms follow the residual connections
};

}  // namespace HEED_NAMESPACE::nn
