// ablation.hpp: language model losses, and the loss with each attention head ablated in turn.
#pragma once

#include <functional>

#include "heed/nn/gpt.hpp"
#include "heed/text/corpus.hpp"

namespace HEED_NAMESPACE {

// The mean next-token loss of the model (cross-entropy in nats) for B windows of T tokens: each
// token except the first is predicted from the tokens before it. Throws Error if T is below 2, and
// for a model that is not causal, because the input of such a model contains the targets.
double next_token_loss(const nn::Gpt& model, const Indices& tokens);
// The mean next-token loss over `batches` batches of random windows of a split. A window has the
// model's block_size tokens, or fewer if the split is shorter. The same seed draws the same
// windows. Throws Error for 0 batches and for batches of 0 windows.
double next_token_loss(const nn::Gpt& model, const Split& part, std::size_t batches,
                       std::size_t batch_size, std::uint64_t seed);

// For a model that is not causal: replaces each token of tokens (B, T) in turn by the token `mask`
// and predicts it from all other tokens of its window. Returns the mean cross-entropy in nats: the
// negative pseudo-log-likelihood per token (Salazar et al. 2020, "Masked Language Model Scoring",
// section 2). Tokens that already equal `mask` are not predicted. Throws Error if all tokens equal
// `mask`.
double masked_token_loss(const nn::Gpt& model, const Indices& tokens, std::int64_t mask);

// Ablates one head of the model for the lifetime of this object: sets the head's columns of the
// output projection's weight to 0, so that the head contributes nothing. The projection's bias does
// not change. Several AblatedHeads may exist at once and be destroyed in any order.
class AblatedHead {
 public:
  // Throws Error for a layer or a head that does not exist.
  AblatedHead(const nn::Gpt& model, std::size_t layer, std::size_t head);
  ~AblatedHead();
  AblatedHead(const AblatedHead&) = delete;
  AblatedHead& operator=(const AblatedHead&) = delete;

 private:
  Tensor weight_;             // (C, C): the weight of the output projection
  std::size_t first_column_;  // the first column of the head in weight_
  Array original_columns_;    // (C, D): the weights before the ablation
};

// The losses that ablate() measured.
struct Ablation {
  double baseline_loss = 0;  // the loss of the model with all its heads
  Array ablated_loss;        // (L, H): the loss without head h of layer l
};

// Calls `loss` once with all heads and once with each head ablated (AblatedHead): 1 + L H calls.
// The model has its original weights again when ablate returns or throws.
Ablation ablate(const nn::Gpt& model, const std::function<double()>& loss);

}  // namespace HEED_NAMESPACE
