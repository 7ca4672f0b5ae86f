// heads.cpp: capture of attention weights, queries and keys, and ablation of single heads.

#include "heed/study/heads.hpp"

#include <algorithm>
#include <utility>

#include "heed/base/error.hpp"
#include "heed/ops/attention.hpp"

namespace HEED_NAMESPACE {

static LayerAttention capture_layer(const nn::MultiHeadAttention& attention, const Tensor& x,
                                    const nn::AttentionMask& mask) {
  const std::size_t H = attention.num_heads;
  return {attention.weights(x, x, mask).value(),       // (B, H, T, T)
          split_heads(attention.query(x), H).value(),  // (B, H, T, D)
          split_heads(attention.key(x), H).value()};   // (B, H, T, D)
}

std::vector<LayerAttention> capture_attention(const nn::Gpt& model, const Indices& tokens) {
  const NoGrad no_grad;
  std::vector<LayerAttention> layers;
  Tensor x = model.embed(tokens);  // (B, T, C)
  for (const nn::Block& block : model.blocks) {
    layers.push_back(capture_layer(block.attention, block.norm1(x), model.attention_mask()));
    x = block(x, model.attention_mask());
  }
  return layers;
}

static Tensor output_projection_weight(const nn::Gpt& model, std::size_t layer, std::size_t head) {
  const auto check = [](const char* part, std::size_t index, std::size_t count) {
    if (index >= count)
      throw_error("AblatedHead: there is no ", part, " ", index, "; the model has ", part,
                  "s 0 to ", count - 1);
  };
  check("layer", layer, model.config.layers);
  check("head", head, model.config.heads);
  return model.blocks[layer].attention.out.weight;
}

AblatedHead::AblatedHead(const nn::Gpt& model, std::size_t layer, std::size_t head)
    : weight_(output_projection_weight(model, layer, head)) {
  const std::size_t C = model.config.embed_dim, D = C / model.config.heads;
  first_column_ = head * D;
  original_columns_ = zeros({C, D});
  Real* const weight = weight_.mutable_value().data() + first_column_;
  for (std::size_t row = 0; row < C; ++row)
    std::swap_ranges(weight + row * C, weight + row * C + D, &original_columns_(row, 0));
}

// Adds the original weights instead of overwriting: if two objects ablate the same head, the second
// one stored zeros, and either may be destroyed first.
AblatedHead::~AblatedHead() {
  const std::size_t C = original_columns_.shape()[0], D = original_columns_.shape()[1];
  Real* const weight = weight_.mutable_value().data() + first_column_;
  for (std::size_t row = 0; row < C; ++row)
    for (std::size_t i = 0; i < D; ++i) weight[row * C + i] += original_columns_(row, i);
}

}  // namespace HEED_NAMESPACE
