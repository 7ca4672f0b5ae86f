// memory.cpp: estimates the memory of a training run.

#include "heed/train/memory.hpp"

namespace HEED_NAMESPACE {

TrainingMemory training_memory(const nn::GptConfig& model, const TrainOptions& options) {
  const auto C = static_cast<double>(model.embed_dim), L = static_cast<double>(model.layers);
  const auto V = static_cast<double>(model.vocab_size), H = static_cast<double>(model.heads);
  const auto B = static_cast<double>(options.batch_size), T = static_cast<double>(model.block_size);
  double per_token = 18 * C * L + 10 * C + 3 * V;
  if (options.dropout > 0) per_token += L * (7 * H * T + 11 * C);
  return {sizeof(Real) * 5 * nn::parameter_count<double>(model), sizeof(Real) * B * T * per_token};
}

}  // namespace HEED_NAMESPACE
