// ablation.cpp: which heads matter: a model's loss with each of its heads removed in turn.

#include "heed/study/ablation.hpp"

#include <algorithm>
#include <cmath>

#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"
#include "heed/ops/loss.hpp"
#include "heed/study/heads.hpp"
#include "heed/text/batches.hpp"

namespace heed {
namespace {

constexpr std::int64_t not_asked = -100;  // what cross_entropy ignores

void check_causal(const nn::Gpt& model) {
  if (!model.config.causal)
    throw_error("next_symbol_loss: the model sees the next symbol; use hidden_symbol_loss");
}

// T copies of a window of T symbols, in the t-th of which the t-th symbol is hidden and asked for.
struct Hidden {
  Indices inputs, targets;  // (T, T)
  std::size_t asked = 0;
};

Hidden hide_each(const std::int64_t* window, std::size_t T, std::int64_t mask) {
  Hidden hidden{Indices::from_shape({T, T}), Indices::from_shape({T, T})};
  std::fill(hidden.targets.begin(), hidden.targets.end(), not_asked);
  for (std::size_t t = 0; t < T; ++t) {
    std::copy_n(window, T, &hidden.inputs(t, 0));
    if (window[t] == mask) continue;
    hidden.inputs(t, t) = mask;
    hidden.targets(t, t) = window[t];
    ++hidden.asked;
  }
  return hidden;
}

}  // namespace

double next_token_loss(const nn::Gpt& model, const Indices& tokens) {
  check_causal(model);
  if (tokens.dimension() != 2 || tokens.shape()[1] < 2)
    throw_error("next_symbol_loss: tokens must be (B, T), T at least 2, got ",
                str(shape_of(tokens)));
  const std::size_t B = tokens.shape()[0], T = tokens.shape()[1];
  Indices inputs = Indices::from_shape({B, T - 1}), targets = Indices::from_shape({B, T - 1});
  for (std::size_t b = 0; b < B; ++b) {
    std::copy_n(&tokens(b, 0), T - 1, &inputs(b, 0));
    std::copy_n(&tokens(b, 1), T - 1, &targets(b, 0));
  }
  const NoGrad no_grad;
  return static_cast<double>(model.loss(inputs, targets).item());
}

double next_token_loss(const nn::Gpt& model, const Split& part, std::size_t batches,
                       std::size_t batch_size, std::uint64_t seed) {
  check_causal(model);
  if (batches == 0) throw_error("next_symbol_loss: batches is 0; give at least 1");
  const std::size_t longest = part.size > 1 ? part.size - 1 : 1;
  const NoGrad no_grad;
  Batches windows(part, batch_size, std::min(model.config.block_size, longest), seed);
  double sum = 0;
  for (std::size_t i = 0; i < batches; ++i) {
    const Batch batch = windows.next();
    sum += static_cast<double>(model.loss(batch.inputs, batch.targets).item());
  }
  return sum / static_cast<double>(batches);
}

double masked_token_loss(const nn::Gpt& model, const Indices& tokens, std::int64_t mask) {
  if (tokens.dimension() != 2)
    throw_error("hidden_symbol_loss: tokens must be (B, T), got ", str(shape_of(tokens)));
  const NoGrad no_grad;
  const std::size_t T = tokens.shape()[1];
  CrossEntropyOptions summed;
  summed.reduction = Reduction::sum, summed.ignore_index = not_asked;
  double sum = 0;
  std::size_t asked = 0;
  for (std::size_t b = 0; b < tokens.shape()[0]; ++b) {
    const Hidden hidden = hide_each(tokens.data() + b * T, T, mask);
    if (hidden.asked == 0) continue;
    const Tensor loss = cross_entropy(model(hidden.inputs), hidden.targets, summed);
    sum += static_cast<double>(loss.item());
    asked += hidden.asked;
  }
  if (asked == 0) throw_error("hidden_symbol_loss: every symbol is hidden already");
  return sum / static_cast<double>(asked);
}

Ablation ablate(const nn::Gpt& model, const std::function<double()>& loss) {
  Ablation result{loss(), zeros({model.config.layers, model.config.heads})};
  for (std::size_t layer = 0; layer < model.config.layers; ++layer)
    for (std::size_t head = 0; head < model.config.heads; ++head) {
      const AblatedHead without(model, layer, head);
      result.without(layer, head) = static_cast<Real>(loss());
    }
  return result;
}

}  // namespace heed
