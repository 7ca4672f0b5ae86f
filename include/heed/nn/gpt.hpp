// gpt.hpp: the GPT language model: token ids in, logits of the next token out.
#pragma once

#include <memory>
#include <vector>

#include "heed/nn/block.hpp"
#include "heed/nn/embedding.hpp"

namespace HEED_NAMESPACE::nn {

struct GptConfig {
  std::size_t vocab_size = 0;
  std::size_t block_size = 64;  // the context length: tokens in a window at most
  std::size_t layers = 4;
  std::size_t heads = 4;
  std::size_t embed_dim = 128;
  bool bias = false;  // in linear layers and layer norms
  bool tied = true;   // weight tying: the output layer uses the token embedding's weight
  Gelu gelu = Gelu::erf;
  bool causal = true;  // false: every position attends to all positions, as in BERT
};

// The number of parameters of a model with this configuration. Use Number = double for sizes that
// may overflow.
template <class Number = std::size_t>
Number parameter_count(const GptConfig& config) {
  const auto number = [](std::size_t n) { return static_cast<Number>(n); };
  const Number C = number(config.embed_dim), bias = config.bias ? 1 : 0;
  // Weights: query, key, value and out have C x C each, up and down 4C x C each, two layer norms C
  // each. Biases: C for each of the first four, 4C for up, C for down, C for each norm.
  const Number block = 12 * C * C + 2 * C + bias * (4 * C + 5 * C + 2 * C);
  const Number embeddings =
      (config.tied ? 1 : 2) * number(config.vocab_size) * C + number(config.block_size) * C;
  return embeddings + number(config.layers) * block + C + bias * C;
}

// The key-value caches of a model's blocks, so that generation computes each token only once.
struct GptCache {
  explicit GptCache(const GptConfig& config);  // empty, with room for block_size tokens

  std::size_t size() const { return blocks[0].size; }  // tokens in the cache
  std::vector<KeyValueCache> blocks;
};

// GPT-2 (Radford et al. 2019), or, if not causal, an encoder as in BERT (Devlin et al. 2018): token
// and position embeddings, blocks, a final layer norm, and a linear output layer. Weights are drawn
// from normal(0, 0.02). In layers that end a residual branch the standard deviation is divided by
// sqrt(2 layers), so that the scale of the residual stream does not depend on the depth at first.
struct Gpt {
  // Throws Error for a size of 0, or heads that do not divide embed_dim.
  Gpt(Scope scope, const GptConfig& config);

  // tokens (B, T), T at most block_size -> logits (B, T, V). Throws Error for a longer window.
  Tensor operator()(const Indices& tokens, const TrainingMode* training = nullptr) const;
  // The logits (1, T, V) of tokens (1, T) that follow those in the cache; appends them to the
  // cache. Equal to the logits of the whole text at these positions, up to rounding; bit for bit
  // with an empty cache. Records no graph. Throws Error when cache and tokens together are longer
  // than block_size, or when the model is not causal.
  Tensor operator()(const Indices& tokens, GptCache& cache) const;
  // The mean cross-entropy in nats for targets (B, T).
  Tensor loss(const Indices& tokens, const Indices& targets,
              const TrainingMode* training = nullptr) const;

  // The input of the first block: token embedding + position embedding, for the positions `first`
  // to first + T - 1. (B, T) -> (B, T, C). Throws Error for positions beyond block_size.
  Tensor embed(const Indices& tokens, std::size_t first = 0) const;
  // The mask of every block: causal, or none.
  AttentionMask attention_mask() const;

  GptConfig config;
  Embedding token;     // (V, C)
  Embedding position;  // (T, C)
  std::vector<Block> blocks;
  LayerNorm norm;
  Tensor head;  // (V, C), the weight of the output layer: token.weight when tied

 private:
  Gpt(const GptConfig& checked_config, const Scope& scope);
};

}  // namespace HEED_NAMESPACE::nn
