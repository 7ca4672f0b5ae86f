// forward_record.hpp: a forward pass that keeps its intermediate results, the gradient of a loss
// with respect to the attention weights, and the logit lens.
#pragma once

#include <vector>

#include "heed/nn/gpt.hpp"

namespace HEED_NAMESPACE {

// The intermediate results of one block for one window of T tokens. H heads of width D = C / H.
struct LayerRecord {
  Tensor weights;               // attention weights: (1, H, T, T), or (1, T, T) if H is 1
  Array queries, keys, values;  // (H, T, D) each; rotated queries and keys with rotary positions
  Tensor residual;              // (1, T, C): the residual stream after the block
};

// A forward pass with its graph, from the embedding to the logits.
struct ForwardRecord {
  Tensor embedding;                 // (1, T, C): the input of the first block
  std::vector<LayerRecord> layers;  // one record for each block
  Tensor logits;                    // (1, T, V)
};

// Runs the model on tokens (1, T) and keeps the intermediate results. The logits are those of the
// model up to rounding. Throws Error unless tokens are (1, T), and the errors of the model.
ForwardRecord record_forward(const nn::Gpt& model, const Indices& tokens);

// The loss -ln p(target) of the prediction at one position of the record. Throws Error for a
// position or a target that the record does not have.
Tensor loss_at(const ForwardRecord& record, std::size_t position, std::int64_t target);

// The gradient of a loss with respect to the attention weights of each layer: (H, T, T) for each.
// Throws Error for a loss that was not computed from record.logits. The record's graph is kept for
// further losses. As in every backward pass, the gradients of the model's parameters grow, too.
std::vector<Array> weight_gradients(const ForwardRecord& record, const Tensor& loss);

// The logit lens (nostalgebraist 2020, "interpreting GPT: the logit lens"): the next-token
// probabilities (L + 1, T, V) that the final norm and the output layer give for the residual stream
// before the first block and after each of the L blocks. The last ones are the model's own. Throws
// Error if the record is of a model with another number of tokens.
Array logit_lens(const nn::Gpt& model, const ForwardRecord& record);

}  // namespace HEED_NAMESPACE
