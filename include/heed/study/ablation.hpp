// ablation.hpp: language model losses, and the loss with each attention head ablated in turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "heed/nn/gpt.hpp"
#include "heed/text/corpus.hpp"

namespace HEED_NAMESPACE {

// The mean cross-entropy, in nats, of tokens[:, 1:] given the tokens before them in the same
// window. tokens are (B, T). Throws Error when T is below 2, and for a model that is not causal,
// because its input would contain the target.
double next_token_loss(const nn::Gpt& model, const Indices& tokens);
// The same over `batches` batches of random windows of the part. A window is as long as the model's
// block, or as the part if that is shorter. The same seed draws the same windows. Throws Error for
// 0 batches and for batches of 0 windows.
double next_token_loss(const nn::Gpt& model, const Split& part, std::size_t batches,
                       std::size_t batch_size, std::uint64_t seed);

// For a model that is not causal: replaces each token of tokens (B, T) in turn by the token `mask`
// and predicts it from all other tokens of its window. Returns the mean cross-entropy in nats: the
// negative pseudo-log-likelihood per token (Salazar et al. 2020, "Masked Language Model Scoring",
// section 2). Tokens that already equal `mask` are not predicted. Throws Error when no token is
// left to predict.
double masked_token_loss(const nn::Gpt& model, const Indices& tokens, std::int64_t mask);

struct Ablation {
  double baseline_loss = 0;  // the loss of the model with all its heads
  Array ablated_loss;        // (L, H): the loss without head h of layer l
};

// Evaluates `loss` with all heads and without each one (see AblatedHead): 1 + L H calls. The model
// has its original weights again when ablate returns or throws.
Ablation ablate(const nn::Gpt& model, const std::function<double()>& loss);

}  // namespace HEED_NAMESPACE
