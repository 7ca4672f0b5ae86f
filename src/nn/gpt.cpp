// gpt.cpp: the pre-norm transformer block, and the GPT language model and its initialisation.

#include "heed/nn/gpt.hpp"

#include <cmath>

#include "heed/base/error.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/shape.hpp"

namespace HEED_NAMESPACE::nn {

Mlp::Mlp(Scope scope, std::size_t embed_dim, bool with_bias, Gelu form)
    : up(scope / "up", embed_dim, 4 * embed_dim, with_bias),
      down((scope / "down").ends_residual(), 4 * embed_dim, embed_dim, with_bias),
      gelu_form(form) {}

Tensor Mlp::operator()(const Tensor& x, SourceLocation location) const {
  const CallSite site(location);
  return down(gelu(up(x), gelu_form));
}

Block::Block(Scope scope, std::size_t embed_dim, std::size_t num_heads, bool with_bias, Gelu form)
    : norm1(scope / "norm1", embed_dim, with_bias),
      attention(scope / "attention", embed_dim, num_heads, with_bias),
      norm2(scope / "norm2", embed_dim, with_bias),
      mlp(scope / "mlp", embed_dim, with_bias, form) {}

Tensor Block::operator()(const Tensor& x, const AttentionMask& mask, const TrainingMode* training,
                         SourceLocation location) const {
  const CallSite site(location);
  const Tensor attended = x + dropout(attention(norm1(x), mask, training), training);
  return attended + dropout(mlp(norm2(attended)), training);
}

Tensor Block::operator()(const Tensor& x, KeyValueCache& cache, SourceLocation location) const {
  const CallSite site(location);
  const Tensor attended = x + attention(norm1(x), cache);
  return attended + mlp(norm2(attended));
}

DecoderBlock::DecoderBlock(Scope scope, std::size_t embed_dim, std::size_t num_heads,
                           bool with_bias, Gelu form)
    : norm1(scope / "norm1", embed_dim, with_bias),
      attention(scope / "attention", embed_dim, num_heads, with_bias),
      norm2(scope / "norm2", embed_dim, with_bias),
      cross(scope / "cross", embed_dim, num_heads, with_bias),
      norm3(scope / "norm3", embed_dim, with_bias),
      mlp(scope / "mlp", embed_dim, with_bias, form) {}

Tensor DecoderBlock::operator()(const Tensor& x, const Tensor& memory, const AttentionMask& mask,
                                const AttentionMask& memory_mask, const TrainingMode* training,
                                SourceLocation location) const {
  const CallSite site(location);
  const Tensor attended = x + dropout(attention(norm1(x), mask, training), training);
  const Tensor crossed =
      attended + dropout(cross(norm2(attended), memory, memory_mask, training), training);
  return crossed + dropout(mlp(norm3(crossed)), training);
}

static const GptConfig& checked(const GptConfig& c, SourceLocation location) {
  const CallSite site(location);
  const std::pair<const char*, std::size_t> sizes[] = {{"vocab_size", c.vocab_size},
                                                       {"block_size", c.block_size},
                                                       {"layers", c.layers},
                                                       {"heads", c.heads},
                                                       {"embed_dim", c.embed_dim}};
  for (const auto& [name, size] : sizes)
    if (size == 0) throw_error("Gpt: ", name, " must be at least 1");
  if (c.embed_dim % c.heads != 0)
    throw_error("Gpt: embed_dim ", c.embed_dim, " must be divisible by heads ", c.heads);
  return c;
}

// nanoGPT initialises every weight twice: in the constructors of PyTorch's layers, then again. To
// get nanoGPT's weights, skip_layer_draws discards the random numbers that those constructors draw.
static void skip_layer_draws(Generator& generator, const GptConfig& c) {
  const std::size_t C = c.embed_dim, bias = c.bias ? 1 : 0;
  generator.skip_normal(c.vocab_size * C);
  generator.skip_normal(c.block_size * C);
  generator.skip_uniform(c.layers * (12 * C * C + bias * 9 * C));
  if (!c.tied) generator.skip_uniform(c.vocab_size * C);
}

static Scope with_gpt_init(Scope scope, const GptConfig& c) {
  skip_layer_draws(scope.generator, c);
  const double std = 0.02;
  scope.init = {std, std / std::sqrt(2.0 * static_cast<double>(c.layers))};
  return scope;
}

static std::vector<Block> make_blocks(Scope scope, const GptConfig& c) {
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < c.layers; ++i)
    blocks.emplace_back(scope / i, c.embed_dim, c.heads, c.bias, c.gelu);
  return blocks;
}

GptCache::GptCache(const GptConfig& c, SourceLocation location) {
  checked(c, location);
  for (std::size_t i = 0; i < c.layers; ++i) blocks.emplace_back(c.block_size, c.embed_dim);
}

Gpt::Gpt(Scope scope, const GptConfig& c)
    : Gpt(checked(c, scope.location), with_gpt_init(scope, checked(c, scope.location))) {}

Gpt::Gpt(const GptConfig& c, const Scope& scope)
    : config(c),
      token(scope / "token", c.vocab_size, c.embed_dim),
      position(scope / "position", c.block_size, c.embed_dim),
      blocks(make_blocks(scope / "blocks", c)),
      norm(scope / "norm", c.embed_dim, c.bias),
      head(c.tied ? token.weight
                  : Linear(scope / "head", c.embed_dim, c.vocab_size, false).weight) {}

Tensor Gpt::embed(const Indices& tokens, std::size_t first, SourceLocation location) const {
  const CallSite site(location);
  if (tokens.dimension() != 2)
    throw_error("Gpt: tokens must be (B, T), got ", str(shape_of(tokens)));
  const std::size_t end = first + tokens.shape()[1];
  if (end > config.block_size)
    throw_error("Gpt: a window of ", end, " tokens is longer than block_size ", config.block_size);
  return token(tokens) + slice(position.weight, 0, static_cast<std::int64_t>(first),
                               static_cast<std::int64_t>(end));
}

AttentionMask Gpt::attention_mask() const { return {config.causal, {}, {}}; }

Tensor Gpt::operator()(const Indices& tokens, const TrainingMode* training,
                       SourceLocation location) const {
  const CallSite site(location);
  Tensor x = dropout(embed(tokens), training);  // (B, T, C)
  for (const Block& block : blocks) x = block(x, attention_mask(), training);
  return linear(norm(x), head);  // (B, T, V)
}

Tensor Gpt::operator()(const Indices& tokens, GptCache& cache, SourceLocation location) const {
  const CallSite site(location);
  if (cache.blocks.size() != blocks.size())
    throw_error("Gpt: the cache has ", cache.blocks.size(), " blocks, the model ", blocks.size());
  if (!config.causal)
    throw_error("Gpt: generation with a cache needs a causal model; this one is not causal");
  const NoGrad no_grad;
  Tensor x = embed(tokens, cache.size());  // (1, T, C)
  for (std::size_t i = 0; i < blocks.size(); ++i) x = blocks[i](x, cache.blocks[i]);
  return linear(norm(x), head);  // (1, T, V)
}

Tensor Gpt::loss(const Indices& tokens, const Indices& targets, const TrainingMode* training,
                 SourceLocation location) const {
  const CallSite site(location);
  return cross_entropy((*this)(tokens, training), targets);
}

}  // namespace HEED_NAMESPACE::nn
