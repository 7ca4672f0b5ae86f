// gpt.cpp: the GPT language model and its initialisation.

#include "heed/nn/gpt.hpp"

#include <cmath>

#include "heed/base/error.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/shape.hpp"

namespace HEED_NAMESPACE::nn {

// Throws Error for more than 1e13 parameters (40 TB), before their number overflows.
static void check_number_of_parameters(const GptConfig& c) {
  const auto C = static_cast<double>(c.embed_dim), V = static_cast<double>(c.vocab_size);
  const auto T = static_cast<double>(c.block_size), L = static_cast<double>(c.layers);
  const double Q =
      c.head_dim == 0 ? C : static_cast<double>(c.heads) * static_cast<double>(c.head_dim);
  if (V * C + T * C + L * C * (4 * Q + 2 * c.hidden_width<double>()) > 1e13)
    throw_error("Gpt: vocab_size ", c.vocab_size, ", block_size ", c.block_size, ", layers ",
                c.layers, " and embed_dim ", c.embed_dim,
                c.head_dim + c.intermediate_size == 0 ? "" : ", with head_dim, intermediate_size,",
                " give more than 1e13 parameters");
}

static const GptConfig& checked(const GptConfig& c, SourceLocation location) {
  const CallSite site(location);
  const std::pair<const char*, std::size_t> sizes[] = {{"vocab_size", c.vocab_size},
                                                       {"block_size", c.block_size},
                                                       {"layers", c.layers},
                                                       {"heads", c.heads},
                                                       {"embed_dim", c.embed_dim}};
  for (const auto& [name, size] : sizes)
    if (static_cast<std::ptrdiff_t>(size) <= 0)
      throw_error("Gpt: ", name, " is ", size, "; it must be at least 1");
  check_number_of_parameters(c);
  if (!(c.norm_eps >= 0)) throw_error("Gpt: norm_eps is ", c.norm_eps, "; give 0 or more");
  if (c.head_dim == 0 && c.embed_dim % c.heads != 0)
    throw_error("Gpt: embed_dim ", c.embed_dim, " must be divisible by heads ", c.heads);
  if (c.kv_heads != 0 && c.heads % c.kv_heads != 0)
    throw_error("Gpt: heads ", c.heads, " must be divisible by kv_heads ", c.kv_heads);
  if (c.positions == PositionKind::rotary && c.rotary_dim == 0 && c.head_width() % 2 != 0)
    throw_error("Gpt: rotary positions need heads of even width: ",
                c.head_dim == 0 ? "embed_dim " : "head_dim ",
                c.head_dim == 0 ? c.embed_dim : c.head_dim, ", heads ", c.heads);
  return c;
}

// nanoGPT draws every weight twice: in the constructors of PyTorch's layers, then again. To get the
// same weights as nanoGPT, skip_layer_draws discards the random numbers of those constructors.
// (nanoGPT has no variants. For them, it discards as many numbers as for GPT-2, except those of
// position embeddings.)
static void skip_layer_draws(Generator& generator, const GptConfig& c) {
  const std::size_t C = c.embed_dim, bias = c.bias ? 1 : 0;
  generator.skip_normal(c.vocab_size * C);
  if (c.positions == PositionKind::learned) generator.skip_normal(c.block_size * C);
  generator.skip_uniform(c.layers * (12 * C * C + bias * 9 * C));
  if (!c.tied) generator.skip_uniform(c.vocab_size * C);
}

static Scope with_gpt_init(Scope scope, const GptConfig& c) {
  if (!scope.init.draw) return scope;
  skip_layer_draws(scope.generator, c);
  const double std = 0.02;
  scope.init = {std, std / std::sqrt(2.0 * static_cast<double>(c.layers))};
  return scope;
}

static std::optional<Embedding> make_positions(Scope scope, const GptConfig& c) {
  if (c.positions == PositionKind::rotary) return {};
  scope.compact = nullptr;
  return Embedding(scope / "position", c.block_size, c.embed_dim);
}

static std::optional<TokenTypeEmbedding> make_token_types(Scope scope, const GptConfig& c) {
  if (c.token_types == 0) return {};
  scope.compact = nullptr;
  return TokenTypeEmbedding(scope / "token_type", c.token_types, c.embed_dim);
}

static std::optional<MaskedLmHead> make_masked_lm(Scope scope, const GptConfig& c) {
  if (!c.masked_lm_head) return {};
  return MaskedLmHead(scope / "masked_lm", c);
}

static std::vector<Block> make_blocks(Scope scope, const GptConfig& c) {
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < c.layers; ++i) blocks.emplace_back(scope / i, c);
  return blocks;
}

GptCache::GptCache(const GptConfig& c, std::size_t batch, SourceLocation location) {
  checked(c, location);
  for (std::size_t i = 0; i < c.layers; ++i) blocks.emplace_back(c.block_size, c.kv_width(), batch);
}

Gpt::Gpt(Scope scope, const GptConfig& c)
    : Gpt(checked(c, scope.location), with_gpt_init(scope, checked(c, scope.location))) {}

Gpt::Gpt(const GptConfig& c, const Scope& scope)
    : config(c),
      token(scope / "token", c.vocab_size, c.embed_dim),
      position(make_positions(scope, c)),
      token_type(make_token_types(scope, c)),
      blocks(make_blocks(scope / "blocks", c)),
      norm(scope / (c.post_norm ? "embedding_norm" : "norm"), c.embed_dim, c.bias, c.norm,
           c.norm_eps),
      masked_lm(make_masked_lm(scope, c)),
      head(token.weight) {
  if (!c.tied) head = Linear(scope / "head", c.embed_dim, c.vocab_size, false).weight;
}

static Gpt without_values(Parameters& parameters, CompactMatrices* matrices, const GptConfig& c) {
  Generator unused(0);
  Scope scope(parameters, unused);
  scope.init.draw = false;
  scope.compact = matrices;
  return Gpt(scope, c);
}

Gpt without_values(Parameters& parameters, const GptConfig& config, SourceLocation location) {
  const CallSite site(location);
  return without_values(parameters, nullptr, config);
}

Gpt without_values(Parameters& parameters, CompactMatrices& matrices, const GptConfig& config,
                   SourceLocation location) {
  const CallSite site(location);
  return without_values(parameters, &matrices, config);
}

Tensor Gpt::embed_tokens(const Exact<Indices>& tokens, std::size_t first,
                         const Exact<Indices>* types) const {
  if (tokens.dimension() != 2)
    throw_error("Gpt: tokens must be (B, T), got ", str(shape_of(tokens)));
  if (first > config.block_size)
    throw_error("Gpt: position ", first, " is beyond block_size ", config.block_size);
  const std::size_t end = first + tokens.shape()[1];
  if (end > config.block_size)
    throw_error("Gpt: a window of ", end, " tokens is longer than block_size ", config.block_size);
  if (types != nullptr && !token_type) throw_error("Gpt: the model has no token types");
  Tensor embedded = token(tokens);  // (B, T, C)
  if (token_type) embedded = embedded + token_type->of(tokens, types);
  if (position)
    embedded = embedded + slice(position->weight, 0, static_cast<std::int64_t>(first),
                                static_cast<std::int64_t>(end));
  return config.post_norm ? norm(embedded) : embedded;
}

Tensor Gpt::embed(const IndicesIn& tokens, std::size_t first) const {
  return embed_tokens(tokens, first, nullptr);
}

Tensor Gpt::embed_with_types(const IndicesIn& tokens, const Exact<Indices>& types) const {
  return embed_tokens(tokens, 0, &types);
}

Tensor Gpt::logits(In x) const {
  const Tensor normed = config.post_norm ? x : norm(x);
  const Tensor hidden = masked_lm ? (*masked_lm)(normed) : normed;
  return linear(hidden, head, masked_lm ? masked_lm->bias : Tensor());
}

Tensor Gpt::from_embedding(In x, const TrainingMode* training) const {
  Tensor y = x;
  for (const Block& block : blocks) y = block(y, attention_mask(), training);
  return logits(y).set_name("logits");  // (B, T, V)
}

AttentionMask Gpt::attention_mask() const { return {config.causal}; }

Tensor Gpt::operator()(const IndicesIn& tokens, const TrainingMode* training) const {
  return from_embedding(dropout(embed(tokens), training), training);
}

Tensor Gpt::operator()(const IndicesIn& tokens, GptCache& cache) const {
  if (cache.blocks.size() != blocks.size())
    throw_error("Gpt: the cache has ", cache.blocks.size(), " blocks, the model ", blocks.size());
  if (!config.causal)
    throw_error("Gpt: generation with a cache needs a causal model; this one is not causal");
  for (const KeyValueCache& block : cache.blocks)
    if (block.size != cache.size())
      throw_error("Gpt: the cache has blocks of ", cache.size(), " and of ", block.size,
                  " positions; make a new GptCache");
  const NoGrad no_grad;
  Tensor x = embed(tokens, cache.size());  // (B, T, C)
  for (std::size_t i = 0; i < blocks.size(); ++i) x = blocks[i](x, cache.blocks[i]);
  return logits(x);  // (B, T, V)
}

Tensor Gpt::loss(const IndicesIn& tokens, const Exact<Indices>& targets,
                 const TrainingMode* training) const {
  return cross_entropy((*this)(tokens, training), targets);
}

}  // namespace HEED_NAMESPACE::nn
