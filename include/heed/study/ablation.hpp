// ablation.hpp: which heads matter: a model's loss with each of its heads removed in turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "heed/nn/gpt.hpp"
#include "heed/text/corpus.hpp"

namespace heed {

// The mean surprise, in nats, at each symbol of tokens (B, T) but the first of a window, given
// those before it. Throws Error when T is below 2, and for a model that is not causal, since that
// sees the symbol itself.
double next_token_loss(const nn::Gpt& model, const Indices& tokens);
// The same over `batches` batches of random windows of the part, as long as the model's block (or
// the part, if that is shorter); the same seed draws the same windows. Throws Error for 0
// batches, or batches of 0.
double next_token_loss(const nn::Gpt& model, const Split& part, std::size_t batches,
                       std::size_t batch_size, std::uint64_t seed);

// For a model that is not causal: each symbol of tokens (B, T) in turn is hidden behind `mask`, a
// symbol of the vocabulary, and asked for, given all others of its window. The mean surprise in
// nats: the pseudo-likelihood of Salazar et al. 2020, "Masked Language Model Scoring", section 2,
// for each symbol and with the sign of a loss. What is `mask` already stays so, and is not asked
// for. Throws Error when nothing is left to ask for.
double masked_token_loss(const nn::Gpt& model, const Indices& tokens, std::int64_t mask);

struct Ablation {
  double whole = 0;  // the loss of the model with all its heads
  Array without;     // (L, H): the same without head h of layer l
};

// Any loss of the model, with all heads and without each (see AblatedHead): 1 + L H calls. The
// weights are as before when it returns or throws.
Ablation ablate(const nn::Gpt& model, const std::function<double()>& loss);

}  // namespace heed
