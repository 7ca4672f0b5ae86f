// memory.hpp: estimates the memory of a training run before it starts.
#pragma once

#include "heed/nn/gpt.hpp"
#include "heed/train/trainer.hpp"

namespace HEED_NAMESPACE {

// In bytes. The type is double, since integers overflow for very large models.
struct TrainingMemory {
  double weights;      // with gradients, AdamW's two moments, and the copies made when saving
  double activations;  // of one step: what forward keeps for backward
  double total() const { return weights + activations; }
};

// With P parameters (nn::parameter_count), B = batch_size, T = block_size, C = embed_dim, L layers,
// H heads, V tokens in the vocabulary, in numbers of sizeof(Real) bytes:
//   weights      P (1 weight + 1 gradient + 2 moments + 1): saving copies the two moments, and one
//                copy reuses the memory of the gradients
//   activations  B T (18 C L + 10 C + 3 V): in each layer the outputs of two norms, query, key,
//                value, heads, out and two residual additions (9 C), up and GELU (8 C), down (1 C);
//                outside the layers embeddings, the final norm and temporary gradients (10 C),
//                logits, probabilities and their gradients (3 V)
//   with dropout B T L (7 H T + 11 C) more: stored attention weights, and dropout masks
// The estimate is within 20 % of the measured memory of runs. It leaves out the text and about 11
// MB for the program.
TrainingMemory training_memory(const nn::GptConfig& model, const TrainOptions& options);

}  // namespace HEED_NAMESPACE
