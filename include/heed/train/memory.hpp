// memory.hpp: how much memory a training run will take, told before it takes any.
#pragma once

#include "heed/nn/gpt.hpp"
#include "heed/train/trainer.hpp"

namespace heed {

// In bytes; as double, since sizes that nobody has overflow whole numbers.
struct TrainingMemory {
  double weights;      // with their gradients and AdamW's two moments, and what saving copies
  double activations;  // of a step: what forward keeps for backward
  double total() const { return weights + activations; }
};

// With P parameters (nn::parameter_count), B = batch_size, T = block_size, C = embed_dim, L layers,
// H heads, V symbols:
//   weights      P (1 weight + 1 gradient + 2 moments + 1), since a save copies the two moments,
//                one of them to where the gradients were
//   activations  B T (18 C L + 10 C + 3 V): in a layer the outputs of two norms, query, key, value,
//                heads, out and two sums (9 C), up and GELU (8 C), down (1 C); outside of layers
//                embeddings, the last norm and gradients on their way (10 C), scores and what
//                becomes of them (3 V)
//   with dropout B T L (7 H T + 11 C) more: shares written out, and what is kept of each value
// numbers of sizeof(Real) bytes. Within a fifth of what a run takes beside the text and some 11 MB
// for the program itself (measured).
TrainingMemory training_memory(const nn::GptConfig& model, const TrainOptions& options);

}  // namespace heed
