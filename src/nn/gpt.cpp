// gpt.cpp: a language model: symbols in, the next symbol's scores out.

#include "heed/nn/gpt.hpp"

#include <cmath>

#include "heed/base/error.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/shape.hpp"

namespace heed::nn {

static const GptConfig& checked(const GptConfig& c) {
  const auto at_least_one = [](const char* what, std::size_t n) {
    if (n == 0) throw_error("Gpt: ", what, " must be at least 1");
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

static void draw(Tensor weight, double std, Generator& generator) {
  weight.mutable_value() = generator.normal(weight.shape(), 0, std);
}

static void draw(Linear layer, double std, Generator& generator) {
  draw(layer.weight, std, generator);
  if (layer.bias.defined()) layer.bias.mutable_value() = zeros(layer.bias.shape());
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

Gpt::Gpt(Scope scope, const GptConfig& c)
    : config(checked(c)),
      token(scope / "token", c.vocab_size, c.embed_dim),
      position(scope / "position", c.block_size, c.embed_dim),
      blocks(make_blocks(scope / "blocks", c)),
      norm(scope / "norm", c.embed_dim, c.bias),
      head(c.tied ? token.weight
                  : Linear(scope / "head", c.embed_dim, c.vocab_size, false).weight) {
  draw_weights(scope.generator);
}

void Gpt::draw_weights(Generator& generator) {
  const double usual = 0.02;
  const double residual = usual / std::sqrt(2.0 * static_cast<double>(config.layers));
  draw(token.weight, usual, generator);
  draw(position.weight, usual, generator);
  for (const Block& block : blocks) {
    draw(block.attention.query, usual, generator);
    draw(block.attention.key, usual, generator);
    draw(block.attention.value, usual, generator);
    draw(block.attention.out, residual, generator);
    draw(block.mlp.up, usual, generator);
    draw(block.mlp.down, residual, generator);
  }
  if (!config.tied) draw(head, usual, generator);
}

Tensor Gpt::embedded(const Indices& tokens, std::size_t first) const {
  if (tokens.dimension() != 2)
    throw_error("Gpt: tokens must be (B, T), got ", str(shape_of(tokens)));
  const std::size_t end = first + tokens.shape()[1];
  if (end > config.block_size)
    throw_error("Gpt: a window of ", end, " symbols is longer than block_size ", config.block_size);
  return token(tokens) + slice(position.weight, 0, static_cast<std::int64_t>(first),
                               static_cast<std::int64_t>(end));
}

AttentionMask Gpt::attention_mask() const {
  AttentionMask past;
  past.causal = config.causal;
  return past;
}

Tensor Gpt::operator()(const Indices& tokens, const TrainingMode* training) const {
  Tensor x = dropout(embedded(tokens), training);  // (B, T, C)
  for (const Block& block : blocks) x = block(x, attention_mask(), training);
  return linear(norm(x), head);  // (B, T, V)
}

Tensor Gpt::operator()(const Indices& tokens, GptCache& cache) const {
  if (cache.blocks.size() != blocks.size())
    throw_error("Gpt: the cache is of ", cache.blocks.size(), " blocks, the model of ",
                blocks.size());
  if (!config.causal)
    throw_error(
        "Gpt: what is read with a cache cannot see what comes later; "
        "this model, not causal, must");
  const NoGrad no_grad;
  Tensor x = embedded(tokens, cache.size());  // (1, T, C)
  for (std::size_t i = 0; i < blocks.size(); ++i) x = blocks[i](x, cache.blocks[i]);
  return linear(norm(x), head);  // (1, T, V)
}

Tensor Gpt::loss(const Indices& tokens, const Indices& targets,
                 const TrainingMode* training) const {
  return cross_entropy((*this)(tokens, training), targets);
}

}  // namespace heed::nn
