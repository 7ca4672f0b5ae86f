// memory.cpp: the sizes of everything that training holds at once.

#include "heed/train/memory.hpp"

namespace heed {

TrainingMemory training_memory(const nn::GptConfig& model, const TrainOptions& options) {
  const auto C = static_cast<double>(model.embed_dim), L = static_cast<double>(model.layers);
  const auto V = static_cast<double>(model.vocab_size), H = static_cast<double>(model.heads);
  const auto B = static_cast<double>(options.batch_size), T = static_cast<double>(model.block_size);
  double of_symbol = 18 * C * L + 10 * C + 3 * V;
  if (options.dropout > 0) of_symbol += L * (7 * H * T + 11 * C);
  return {sizeof(Real) * 5 * nn::parameter_count<double>(model), sizeof(Real) * B * T * of_symbol};
}

}  // namespace heed
