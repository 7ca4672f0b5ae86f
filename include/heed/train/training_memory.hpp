// training_memory.hpp: an estimate of the memory that training needs.
#pragma once

#include "heed/train/trainer.hpp"

namespace HEED_NAMESPACE {

// The memory that training needs in bytes; double, because an integer could overflow.
struct TrainingMemory {
  double parameters_and_state;  // parameters, gradients, AdamW's moments, copies made when saving
  double activations;           // arrays that the forward pass keeps for the backward pass
  double total() const { return parameters_and_state + activations; }  // the sum of both
};

// Estimates the memory that training needs. In units of sizeof(Real) bytes, with P parameters, B =
// batch_size, T = block_size, C = embed_dim, L layers, H heads and V = vocab_size, the terms are:
//   parameters_and_state
//                5 P: parameters, gradients, 2 moments and the copy of 1 moment; saving copies both
//                moments, but one copy takes the memory of the gradients, which are freed before
//   activations  B T (18 C L + 10 C + 3 V) for GPT-2: in each layer, the outputs of two norms,
//                query, key, value, heads, out and two residual additions (9 C), up and GELU (8 C),
//                down (1 C); with grouped queries, key and value are narrower, rotary positions add
//                the rotated query and key, SwiGLU has four outputs of its width; outside the
//                layers, embeddings, the final norm and temporary gradients (10 C), logits,
//                probabilities and their gradients (3 V)
//   with dropout, another B T L (7 H T + 11 C): attention weights and dropout masks
// With S shards, B is the size of a shard, and the sums of gradients take another P log2 S.
// The estimate is within 20 % of the measured memory of runs. The estimate excludes the text and
// about 11 MB for the program.
TrainingMemory training_memory(const nn::GptConfig& model, const TrainOptions& options);

}  // namespace HEED_NAMESPACE
