// ablation.cpp: language model losses, and the loss with each attention head ablated in turn.

#include "heed/study/ablation.hpp"

#include <algorithm>

#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"
#include "heed/ops/loss.hpp"
#include "heed/study/heads.hpp"
#include "heed/text/batches.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr std::int64_t ignored_target = -100;  // see CrossEntropyOptions::ignore_index

void check_causal(const nn::Gpt& model) {
  if (!model.config.causal)
    throw_error(
        "next_token_loss: the model is not causal and sees the target; use masked_token_loss");
}

// T copies of a window of T tokens. In copy t, token t is masked and is the only target.
struct MaskedCopies {
  Indices inputs, targets;  // (T, T)
  std::size_t num_targets = 0;
};

MaskedCopies mask_each(const std::int64_t* window, std::size_t T, std::int64_t mask) {
  MaskedCopies copies{Indices::from_shape({T, T}), Indices::from_shape({T, T})};
  std::fill(copies.targets.begin(), copies.targets.end(), ignored_target);
  for (std::size_t t = 0; t < T; ++t) {
    std::copy_n(window, T, &copies.inputs(t, 0));
    if (window[t] == mask) continue;
    copies.inputs(t, t) = mask;
    copies.targets(t, t) = window[t];
    ++copies.num_targets;
  }
  return copies;
}

}  // namespace

double next_token_loss(const nn::Gpt& model, const Indices& tokens) {
  check_causal(model);
  if (tokens.dimension() != 2 || tokens.shape()[1] < 2)
    throw_error("next_token_loss: tokens must be (B, T), T at least 2, got ",
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
  if (tokens.dimension() != 2)
    throw_error("masked_token_loss: tokens must be (B, T), got ", str(shape_of(tokens)));
  const NoGrad no_grad;
  const std::size_t T = tokens.shape()[1];
  CrossEntropyOptions options;
  options.reduction = Reduction::sum, options.ignore_index = ignored_target;
  double sum = 0;
  std::size_t num_targets = 0;
  for (std::size_t b = 0; b < tokens.shape()[0]; ++b) {
    const MaskedCopies copies = mask_each(tokens.data() + b * T, T, mask);
    if (copies.num_targets == 0) continue;
    const Tensor loss = cross_entropy(model(copies.inputs), copies.targets, options);
    sum += static_cast<double>(loss.item());
    num_targets += copies.num_targets;
  }
  if (num_targets == 0) throw_error("masked_token_loss: every token is masked already");
  return sum / static_cast<double>(num_targets);
}

Ablation ablate(const nn::Gpt& model, const std::function<double()>& loss) {
  Ablation result{loss(), zeros({model.config.layers, model.config.heads})};
  for (std::size_t layer = 0; layer < model.config.layers; ++layer)
    for (std::size_t head = 0; head < model.config.heads; ++head) {
      const AblatedHead ablated(model, layer, head);
      result.ablated_loss(layer, head) = static_cast<Real>(loss());
    }
  return result;
}

}  // namespace HEED_NAMESPACE
