// gpt.cpp: the GPT language model and its initialisation.

#include "heed/nn/gpt.hpp"

#include <cmath>

#include "heed/base/error.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/shape.hpp"

namespace HEED_NAMESPACE::nn {

static const GptConfig& checked(const GptConfig& c) {
  const auto at_least_one = [](const char* name, std::size_t n) {
    if (n == 0) throw_error("Gpt: ", name, " must be at least 1");
  };
  at_least_one("vocab_size", c.vocab_size);
  at_least_one("block_size", c.block_size);
  at_least_one("layers", c.layers);
  at_least_one("heads", c.heads);
  at_least_one("embed_dim", c.embed_dim);
  if (c.embed_dim % c.heads != 0)
    throw_error("Gpt: embed_dim ", c.embed_dim, " must be divisible by heads ", c.heads);
  return c;
}

// nanoGPT draws every weight twice: first in the constructors of PyTorch's layers, then in its own
// initialisation. To get the same weights, this skips the numbers of the first draw.
static void skip_layer_draws(Generator& generator, const GptConfig& c) {
  const std::size_t C = c.embed_dim, bias = c.bias ? 1 : 0;
  generator.skip_normal(c.vocab_size * C);
  generator.skip_normal(c.block_size * C);
  generator.skip_uniform(c.layers * (12 * C * C + bias * 9 * C));
  if (!c.tied) generator.skip_uniform(c.vocab_size * C);
}

static Scope with_gpt_init(const Scope& scope, const GptConfig& c) {
  skip_layer_draws(scope.generator, c);
  const double std = 0.02;
  return scope.with_init({std, std / std::sqrt(2.0 * static_cast<double>(c.layers))});
}

static std::vector<Block> make_blocks(Scope scope, const GptConfig& c) {
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < c.layers; ++i)
    blocks.emplace_back(scope / i, c.embed_dim, c.heads, c.bias, c.gelu);
  return blocks;
}

GptCache::GptCache(const GptConfig& c) {
  checked(c);
  for (std::size_t i = 0; i < c.layers; ++i) blocks.emplace_back(c.block_size, c.embed_dim);
}

Gpt::Gpt(Scope scope, const GptConfig& c) : Gpt(checked(c), with_gpt_init(scope, checked(c))) {}

Gpt::Gpt(const GptConfig& c, const Scope& scope)
    : config(c),
      token(scope / "token", c.vocab_size, c.embed_dim),
      position(scope / "position", c.block_size, c.embed_dim),
      blocks(make_blocks(scope / "blocks", c)),
      norm(scope / "norm", c.embed_dim, c.bias),
      head(c.tied ? token.weight
                  : Linear(scope / "head", c.embed_dim, c.vocab_size, false).weight) {}

Tensor Gpt::embed(const Indices& tokens, std::size_t first) const {
  if (tokens.dimension() != 2)
    throw_error("Gpt: tokens must be (B, T), got ", str(shape_of(tokens)));
  const std::size_t end = first + tokens.shape()[1];
  if (end > config.block_size)
    throw_error("Gpt: a window of ", end, " tokens is longer than block_size ", config.block_size);
  return token(tokens) + slice(position.weight, 0, static_cast<std::int64_t>(first),
                               static_cast<std::int64_t>(end));
}

AttentionMask Gpt::attention_mask() const {
  AttentionMask mask;
  mask.causal = config.causal;
  return mask;
}

Tensor Gpt::operator()(const Indices& tokens, const TrainingMode* training) const {
  Tensor x = dropout(embed(tokens), training);  // (B, T, C)
  for (const Block& block : blocks) x = block(x, attention_mask(), training);
  return linear(norm(x), head);  // (B, T, V)
}

Tensor Gpt::operator()(const Indices& tokens, GptCache& cache) const {
  if (cache.blocks.size() != blocks.size())
    throw_error("Gpt: the cache has ", cache.blocks.size(), " blocks, the model ", blocks.size());
  if (!config.causal)
    throw_error("Gpt: generation with a cache needs a causal model; this one is not causal");
  const NoGrad no_grad;
  Tensor x = embed(tokens, cache.size());  // (1, T, C)
  for (std::size_t i = 0; i < blocks.size(); ++i) x = blocks[i](x, cache.blocks[i]);
  return linear(norm(x), head);  // (1, T, V)
}

Tensor Gpt::loss(const Indices& tokens, const Indices& targets,
                 const TrainingMode* training) const {
  return cross_entropy((*this)(tokens, training), targets);
}

}  // namespace HEED_NAMESPACE::nn
