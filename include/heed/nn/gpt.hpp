// gpt.hpp: the transformer block and the GPT language model.
#pragma once

#include <memory>
#include <vector>

#include "heed/nn/attention.hpp"
#include "heed/nn/layers.hpp"
#include "heed/ops/activation.hpp"

namespace HEED_NAMESPACE::nn {

// The feed-forward network: linear (C to 4C), GELU, linear (4C to C).
struct Mlp {
  // C = embed_dim. Without bias, both linear layers have only a weight.
  Mlp(Scope scope, std::size_t embed_dim, bool with_bias = true, Gelu form = Gelu::erf);

  // (..., C) -> (..., C)
  Tensor operator()(const Tensor& x, SourceLocation location = SourceLocation::current()) const;

  Linear up;       // (4C, C)
  Linear down;     // (C, 4C)
  Gelu gelu_form;  // erf or the tanh approximation
};

// x = x + attention(norm1(x)); x = x + mlp(norm2(x)): residual connections, pre-norm as in GPT-2.
// Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.3.
struct Block {
  // C = embed_dim; num_heads must divide it.
  Block(Scope scope, std::size_t embed_dim, std::size_t num_heads, bool with_bias = true,
        Gelu form = Gelu::erf);

  // (B, T, C) -> (B, T, C)
  Tensor operator()(const Tensor& x, const AttentionMask& mask = {},
                    const TrainingMode* training = nullptr,
                    SourceLocation location = SourceLocation::current()) const;
  // The forward pass with a key-value cache, as in MultiHeadAttention: (1, T, C) -> (1, T, C).
  Tensor operator()(const Tensor& x, KeyValueCache& cache,
                    SourceLocation location = SourceLocation::current()) const;

  LayerNorm norm1;               // before the attention
  MultiHeadAttention attention;  // self-attention
  LayerNorm norm2;               // before the MLP
  Mlp mlp;                       // the feed-forward network
};

// A block of a decoder that reads an encoder's output (Vaswani et al. 2017, section 3.1), pre-norm:
//   x = x + attention(norm1(x));  x = x + cross(norm2(x), memory);  x = x + mlp(norm3(x))
// torch.nn.TransformerDecoderLayer with norm_first = True, activation = gelu and
// dim_feedforward = 4 embed_dim.
struct DecoderBlock {
  // C = embed_dim; num_heads must divide it.
  DecoderBlock(Scope scope, std::size_t embed_dim, std::size_t num_heads, bool with_bias = true,
               Gelu form = Gelu::erf);

  // x (B, T, C), memory (B, S, C) -> (B, T, C). `mask` is that of the self-attention, which is
  // usually causal, and `memory_mask` that of the cross-attention.
  Tensor operator()(const Tensor& x, const Tensor& memory, const AttentionMask& mask,
                    const AttentionMask& memory_mask = {}, const TrainingMode* training = nullptr,
                    SourceLocation location = SourceLocation::current()) const;

  LayerNorm norm1;               // before the self-attention
  MultiHeadAttention attention;  // self-attention
  LayerNorm norm2;               // before the cross-attention
  MultiHeadAttention cross;      // cross-attention: keys and values from memory
  LayerNorm norm3;               // before the MLP
  Mlp mlp;                       // the feed-forward network
};

// The sizes and variants of a Gpt. The defaults are from nanoGPT's example for a CPU.
struct GptConfig {
  std::size_t vocab_size = 0;   // V: number of tokens in the vocabulary
  std::size_t block_size = 64;  // the context length: the maximum number of tokens in a window
  std::size_t layers = 4;       // L: number of blocks
  std::size_t heads = 4;        // H: attention heads per block
  std::size_t embed_dim = 128;  // C: width of the residual stream
  bool bias = false;            // whether linear layers and layer norms have biases
  bool tied = true;             // weight tying: the output layer uses the token embedding's weight
  Gelu gelu = Gelu::erf;        // GELU of the MLPs: erf or the tanh approximation
  bool causal = true;           // false: every position attends to all positions, as in BERT
};

// The number of parameters of a model. Use Number = double if the count may overflow.
template <class Number = std::size_t>
Number parameter_count(const GptConfig& config) {
  const auto number = [](std::size_t n) { return static_cast<Number>(n); };
  const Number C = number(config.embed_dim), bias = config.bias ? 1 : 0;
  // Weights of a block: C x C in each of query, key, value and out, 4C x C in each of up and down,
  // and C in each of two layer norms. Biases: 4C in the layer `up`, C in every other layer.
  const Number block = 12 * C * C + 2 * C + bias * (4 * C + 5 * C + 2 * C);
  const Number embeddings =
      (config.tied ? 1 : 2) * number(config.vocab_size) * C + number(config.block_size) * C;
  return embeddings + number(config.layers) * block + C + bias * C;
}

// The key-value caches of a model's blocks, so that generation computes each token only once.
struct GptCache {
  // Creates empty caches for at most block_size tokens.
  explicit GptCache(const GptConfig& config, SourceLocation location = SourceLocation::current());

  std::size_t size() const { return blocks[0].size; }  // tokens in the cache
  std::vector<KeyValueCache> blocks;                   // one cache for each block
};

// GPT-2 (Radford et al. 2019), or, if not causal, an encoder as in BERT (Devlin et al. 2018): token
// and position embeddings, blocks, a final layer norm, and a linear output layer. Weights are drawn
// from normal(0, 0.02). In layers whose output is added to the residual stream, the std is divided
// by sqrt(2 layers), so that the stream's initial scale does not depend on the depth.
struct Gpt {
  // Throws Error if a size is 0, or if embed_dim is not divisible by the number of heads.
  Gpt(Scope scope, const GptConfig& config);

  // tokens (B, T), T at most block_size -> logits (B, T, V). Throws Error if T exceeds block_size.
  Tensor operator()(const Indices& tokens, const TrainingMode* training = nullptr,
                    SourceLocation location = SourceLocation::current()) const;
  // The logits (1, T, V) of tokens (1, T) that follow the cached tokens. Appends the keys and
  // values of the new tokens to the cache. One call without a cache on all tokens (cached and new)
  // gives the same logits up to rounding (bit for bit if the cache was empty). Records no graph.
  // Throws Error if the cached and new tokens exceed block_size, or if the model is not causal.
  Tensor operator()(const Indices& tokens, GptCache& cache,
                    SourceLocation location = SourceLocation::current()) const;
  // The mean cross-entropy in nats for targets (B, T).
  Tensor loss(const Indices& tokens, const Indices& targets, const TrainingMode* training = nullptr,
              SourceLocation location = SourceLocation::current()) const;

  // The input of the first block: token embedding + position embedding, for the positions `first`
  // to first + T - 1. (B, T) -> (B, T, C). Throws Error for positions beyond block_size.
  Tensor embed(const Indices& tokens, std::size_t first = 0,
               SourceLocation location = SourceLocation::current()) const;
  // The attention mask of every block: causal, or no mask.
  AttentionMask attention_mask() const;

  GptConfig config;           // the sizes and variants
  Embedding token;            // (V, C)
  Embedding position;         // (T, C)
  std::vector<Block> blocks;  // one for each layer
  LayerNorm norm;             // the final layer norm
  Tensor head;                // (V, C), the weight of the output layer: token.weight when tied

 private:
  Gpt(const GptConfig& checked_config, const Scope& scope);
};

}  // namespace HEED_NAMESPACE::nn
