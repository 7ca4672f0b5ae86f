// ablation.cpp: language model losses, and the loss with each attention head ablated in turn.

#include "heed/study/ablation.hpp"

#include <algorithm>
#include <utility>

#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"
#include "heed/ops/loss.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr std::int64_t ignored_target = -100;  // cross_entropy ignores this target (ignore_index)

void check_causal(const nn::Gpt& model) {
  if (!model.config.causal)
    throw_error(
        "next_token_loss: the model is not causal and sees the target; use masked_token_loss");
}

// Returns T copies of a window of T tokens. In copy t, token t is masked and is the only target. If
// token t was masked in the window already, copy t has no target.
Batch mask_each(const Indices& window, std::int64_t mask) {
  const std::size_t T = window.size();
  Batch copies{xt::broadcast(window, {T, T}), Indices({T, T}, ignored_target)};
  for (std::size_t t = 0; t < T; ++t)
    if (window(t) != mask) {
      copies.inputs(t, t) = mask;
      copies.targets(t, t) = window(t);
    }
  return copies;
}

Tensor output_projection_weight(const nn::Gpt& model, std::size_t layer, std::size_t head) {
  const auto check = [](const char* part, std::size_t index, std::size_t count) {
    if (index >= count)
      throw_error("AblatedHead: there is no ", part, " ", index, "; the model has ", part,
                  "s 0 to ", count - 1);
  };
  check("layer", layer, model.config.layers);
  check("head", head, model.config.heads);
  const nn::Weight& weight = model.blocks[layer].attention.out.weight;
  if (weight.compact)
    throw_error("AblatedHead: the weights are in ", weight.compact->type(), "; load them in float");
  return weight;
}

}  // namespace

double next_token_loss(const nn::Gpt& model, const Indices& tokens) {
  check_causal(model);
  if (tokens.dimension() != 2 || tokens.shape()[0] == 0 || tokens.shape()[1] < 2)
    throw_error("next_token_loss: tokens must be (B, T), B at least 1 and T at least 2, got ",
                str(shape_of(tokens)));
  const std::size_t T = tokens.shape(1);
  const Indices inputs = xt::view(tokens, xt::all(), xt::range(std::size_t{0}, T - 1));
  const Indices targets = xt::view(tokens, xt::all(), xt::range(std::size_t{1}, T));
  const NoGrad no_grad;
  return static_cast<double>(model.loss(inputs, targets).item());
}

double next_token_loss(const nn::Gpt& model, const Split& part, std::size_t batches,
                       std::size_t batch_size, std::uint64_t seed) {
  check_causal(model);
  if (batches == 0) throw_error("next_token_loss: batches is 0; give at least 1");
  const std::size_t max_window = part.size > 1 ? part.size - 1 : 1;
  const NoGrad no_grad;
  Batches windows(part, batch_size, std::min(model.config.block_size, max_window), seed);
  double sum = 0;
  for (std::size_t i = 0; i < batches; ++i) {
    const Batch batch = windows.next();
    sum += static_cast<double>(model.loss(batch.inputs, batch.targets).item());
  }
  return sum / static_cast<double>(batches);
}

double masked_token_loss(const nn::Gpt& model, const Indices& tokens, std::int64_t mask) {
  if (model.config.causal)
    throw_error(
        "masked_token_loss: the model is causal and sees no later token; use "
        "next_token_loss");
  if (tokens.dimension() != 2)
    throw_error("masked_token_loss: tokens must be (B, T), got ", str(shape_of(tokens)));
  const NoGrad no_grad;
  CrossEntropyOptions options;
  options.reduction = Reduction::sum, options.ignore_index = ignored_target;
  double sum = 0;
  std::size_t num_targets = 0;
  for (std::size_t b = 0; b < tokens.shape(0); ++b) {
    const Indices window = xt::view(tokens, b);
    const auto masked = static_cast<std::size_t>(std::count(window.begin(), window.end(), mask));
    if (masked == window.size()) continue;
    const Batch copies = mask_each(window, mask);
    const Tensor loss = cross_entropy(model(copies.inputs), copies.targets, options);
    sum += static_cast<double>(loss.item());
    num_targets += window.size() - masked;
  }
  if (num_targets == 0) throw_error("masked_token_loss: every input token is the mask token");
  return sum / static_cast<double>(num_targets);
}

AblatedHead::AblatedHead(const nn::Gpt& model, std::size_t layer, std::size_t head)
    : weight_(output_projection_weight(model, layer, head)) {
  const std::size_t D = model.config.head_width();
  first_column_ = head * D;
  Array& weight = weight_.mutable_value();
  original_columns_ = zeros({weight.shape(0), D});
  for (std::size_t i = 0; i < weight.shape(0); ++i)
    for (std::size_t j = 0; j < D; ++j)
      original_columns_(i, j) = std::exchange(weight(i, first_column_ + j), Real{0});
}

// Adds the original weights instead of assigning them: if two AblatedHead objects ablate the same
// head, the second object has saved zeros, and either object may be destroyed first.
AblatedHead::~AblatedHead() {
  Array& weight = weight_.mutable_value();
  for (std::size_t i = 0; i < original_columns_.shape(0); ++i)
    for (std::size_t j = 0; j < original_columns_.shape(1); ++j)
      weight(i, first_column_ + j) += original_columns_(i, j);
}

Ablation ablate(const nn::Gpt& model, const std::function<double()>& loss) {
  if (!loss) throw_error("ablate: the loss is empty; give a function");
  Ablation result{loss(), zeros({model.config.layers, model.config.heads})};
  for (std::size_t layer = 0; layer < model.config.layers; ++layer)
    for (std::size_t head = 0; head < model.config.heads; ++head) {
      const AblatedHead ablated(model, layer, head);
      result.ablated_loss(layer, head) = static_cast<Real>(loss());
    }
  return result;
}

}  // namespace HEED_NAMESPACE
