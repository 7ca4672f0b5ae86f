// training_memory.cpp: an estimate of the memory that training needs.

#include "heed/train/training_memory.hpp"

#include <cmath>

namespace HEED_NAMESPACE {

TrainingMemory training_memory(const nn::GptConfig& model, const TrainOptions& options) {
  const auto C = static_cast<double>(model.embed_dim), L = static_cast<double>(model.layers);
  const auto Q = static_cast<double>(model.query_width());
  const auto KV = static_cast<double>(model.kv_width());
  const auto V = static_cast<double>(model.vocab_size), H = static_cast<double>(model.heads);
  const auto B = static_cast<double>(options.batch_size), T = static_cast<double>(model.block_size);
  const bool swiglu = model.mlp == nn::MlpKind::swiglu;
  const double mlp = (swiglu ? 4 : 2) * model.hidden_width<double>();
  const double rotated = model.positions == nn::PositionKind::rotary ? Q + KV : 0;
  double per_token = L * (6 * C + 2 * Q + 2 * KV + rotated + mlp) + 10 * C + 3 * V;
  if (options.dropout > 0) per_token += L * (7 * H * T + 11 * C);
  const auto S = static_cast<double>(options.shards);
  return {sizeof(Real) * (5 + std::log2(S)) * nn::parameter_count<double>(model),
          sizeof(Real) * B / S * T * per_token};
}

}  // namespace HEED_NAMESPACE
