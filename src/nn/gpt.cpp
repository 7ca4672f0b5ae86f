// gpt.cpp: a language model: symbols in, the next symbol's scores out.

#include "heed/nn/gpt.hpp"

#include <algorithm>
#include <cmath>

#include "heed/array/error.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/shape.hpp"

namespace heed::nn {

static const GptConfig& checked(const GptConfig& c) {
  const auto at_least_one = [](const char* what, std::size_t n) {
    if (n == 0) refuse("Gpt: ", what, " must be at least 1");
  };
  at_least_one("vocab_size", c.vocab_size);
  at_least_one("block_size", c.block_size);
  at_least_one("layers", c.layers);
  at_least_one("heads", c.heads);
  at_least_one("embed_dim", c.embed_dim);
  if (c.embed_dim % c.heads != 0)
    refuse("Gpt: embed_dim ", c.embed_dim, " must be divisible by heads ", c.heads);
  return c;
}

std::size_t parameter_count(const GptConfig& c) {
  const std::size_t C = c.embed_dim, bias = c.bias ? 1 : 0;
  const std::size_t block = 12 * C * C + 2 * C + bias * (4 * C + 4 * C + C + 2 * C);
  return (c.tied ? 1 : 2) * c.vocab_size * C + c.block_size * C + c.layers * block + C + bias * C;
}

static bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// All parameters from `first` on: those before it are not this model's.
static void draw_weights(const Parameters& parameters, const Tensor& first, const GptConfig& config,
                         Generator& generator) {
  const double residual = 0.02 / std::sqrt(2.0 * static_cast<double>(config.layers));
  auto next = std::find_if(parameters.begin(), parameters.end(),
                           [&](const Tensor& one) { return one.node() == first.node(); });
  for (; next != parameters.end(); ++next) {
    Tensor parameter = *next;
    const std::string& name = parameter.name();
    const bool ends_branch =
        ends_with(name, "attention.out.weight") || ends_with(name, "mlp.down.weight");
    if (parameter.dim() == 2)
      parameter.mutable_value() =
          generator.normal(parameter.shape(), 0, ends_branch ? residual : 0.02);
    else if (ends_with(name, "bias"))
      parameter.mutable_value() = zeros(parameter.shape());
  }
}

Gpt::Gpt(Scope scope, const GptConfig& c)
    : config(checked(c)),
      token(scope / "token", c.vocab_size, c.embed_dim),
      position(scope / "position", c.block_size, c.embed_dim),
      norm((blocks.reserve(c.layers), scope / "norm"), c.embed_dim, c.bias) {
  for (std::size_t i = 0; i < c.layers; ++i)
    blocks.emplace_back(scope / "blocks" / i, c.embed_dim, c.heads, c.bias, c.gelu);
  head = c.tied ? token.weight : Linear(scope / "head", c.embed_dim, c.vocab_size, false).weight;
  draw_weights(scope.store, token.weight, c, scope.generator);
}

Tensor Gpt::operator()(const Indices& tokens, const Training* training) const {
  if (tokens.dimension() != 2) refuse("Gpt: tokens must be (B, T), got ", str(shape_of(tokens)));
  const std::size_t T = tokens.shape()[1];
  if (T > config.block_size)
    refuse("Gpt: a window of ", T, " symbols is longer than block_size ", config.block_size);
  const Tensor places = slice(position.weight, 0, 0, static_cast<std::int64_t>(T));  // (T, C)
  Tensor x = dropout(token(tokens) + places, training);                              // (B, T, C)
  Visible past;
  past.causal = true;
  for (const Block& block : blocks) x = block(x, past, training);
  return linear(norm(x), head);  // (B, T, V)
}

Tensor Gpt::loss(const Indices& tokens, const Indices& targets, const Training* training) const {
  return cross_entropy((*this)(tokens, training), targets);
}

}  // namespace heed::nn
