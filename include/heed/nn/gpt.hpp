// gpt.hpp: a language model: symbols in, the next symbol's scores out.
#pragma once

#include <memory>
#include <vector>

#include "heed/nn/block.hpp"
#include "heed/nn/embedding.hpp"

namespace heed::nn {

struct GptConfig {
  std::size_t vocab_size = 0;
  std::size_t block_size = 64;  // symbols the model looks at
  std::size_t layers = 4;
  std::size_t heads = 4;
  std::size_t embed_dim = 128;
  bool bias = false;  // in linear layers and norms
  bool tied = true;   // the output head is the token embedding, transposed
  Gelu gelu = Gelu::erf;
  bool causal = true;  // false: every symbol sees all others, to fill in blanks as BERT does
};

// The number of parameters of such a model, without making it. In double where sizes may overflow.
template <class Number = std::size_t>
Number parameter_count(const GptConfig& config) {
  const auto number = [](std::size_t n) { return static_cast<Number>(n); };
  const Number C = number(config.embed_dim), bias = config.bias ? 1 : 0;
  // Query, key, value and out: 4 matrices of C x C; up and down: 2 of 4C x C. Two norms. Biases of
  // the four, of up and down, and of the norms.
  const Number block = 12 * C * C + 2 * C + bias * (4 * C + 5 * C + 2 * C);
  const Number embeddings =
      (config.tied ? 1 : 2) * number(config.vocab_size) * C + number(config.block_size) * C;
  return embeddings + number(config.layers) * block + C + bias * C;
}

// What a model keeps of the symbols it has read, so that none is read twice: each block's keys and
// values.
struct GptCache {
  explicit GptCache(const GptConfig& config);  // for block_size symbols, none of them read

  std::size_t size() const { return blocks[0].size; }  // symbols read
  std::vector<KeyValueCache> blocks;
};

// GPT-2 (Radford et al. 2019), or, not causal, an encoder as in BERT (Devlin et al. 2018): token
// and position embeddings, blocks, a last norm, and a linear head. Weights are drawn from normal(0,
// 0.02), those that end a residual branch divided by sqrt(2 layers), so that the sum over the
// branches starts at the same size whatever the depth.
struct Gpt {
  // Throws Error for a size of 0, or heads that do not divide embed_dim.
  Gpt(Scope scope, const GptConfig& config);

  // tokens (B, T), T at most block_size, give scores (B, T, V). Throws Error for a longer window.
  Tensor operator()(const Indices& tokens, const TrainingMode* training = nullptr) const;
  // The scores (1, T, V) of tokens (1, T) that follow those in the cache, and join them: what the
  // whole text would give at these places, but for the last bits, at the cost of T symbols. With an
  // empty cache, the same bits. Links nothing into a graph. Throws Error when cache and tokens
  // together are longer than block_size, or when the model is not causal.
  Tensor operator()(const Indices& tokens, GptCache& cache) const;
  // The mean surprise in nats at targets (B, T).
  Tensor loss(const Indices& tokens, const Indices& targets,
              const TrainingMode* training = nullptr) const;

  // Symbols as vectors that say what each is and where it stands, counted from `first`: what the
  // first block is given. (B, T) to (B, T, C). Throws Error for places beyond block_size.
  Tensor embedded(const Indices& tokens, std::size_t first = 0) const;
  // What each place may see: itself and those before, or all.
  AttentionMask attention_mask() const;

  GptConfig config;
  Embedding token;     // (V, C)
  Embedding position;  // (T, C)
  std::vector<Block> blocks;
  LayerNorm norm;
  Tensor head;  // (V, C): its own, or token.weight when tied

 private:
  void draw_weights(Generator& generator);
};

}  // namespace heed::nn
