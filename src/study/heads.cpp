// heads.cpp: looking inside a model, and going without one of its heads.

#include "heed/study/heads.hpp"

#include <algorithm>
#include <utility>

#include "heed/base/error.hpp"
#include "heed/ops/attention.hpp"

namespace heed {

static LayerAttention look_at(const nn::MultiHeadAttention& attention, const Tensor& x,
                              const nn::AttentionMask& visible) {
  const std::size_t H = attention.num_heads;
  return {attention.weights(x, x, visible).value(),    // (B, H, T, T)
          split_heads(attention.query(x), H).value(),  // (B, H, T, D)
          split_heads(attention.key(x), H).value()};   // (B, H, T, D)
}

std::vector<LayerAttention> capture_attention(const nn::Gpt& model, const Indices& tokens) {
  const NoGrad no_grad;
  std::vector<LayerAttention> layers;
  Tensor x = model.embedded(tokens);  // (B, T, C)
  for (const nn::Block& block : model.blocks) {
    layers.push_back(look_at(block.attention, block.norm1(x), model.attention_mask()));
    x = block(x, model.attention_mask());
  }
  return layers;
}

static Tensor projection_of(const nn::Gpt& model, std::size_t layer, std::size_t head) {
  const auto check = [](const char* what, std::size_t number, std::size_t count) {
    if (number >= count)
      throw_error("WithoutHead: there is no ", what, " ", number, "; the model has ", what,
                  "s 0 to ", count - 1);
  };
  check("layer", layer, model.config.layers);
  check("head", head, model.config.heads);
  return model.blocks[layer].attention.out.weight;
}

AblatedHead::AblatedHead(const nn::Gpt& model, std::size_t layer, std::size_t head)
    : weight_(projection_of(model, layer, head)) {
  const std::size_t C = model.config.embed_dim, D = C / model.config.heads;
  first_ = head * D;
  taken_ = zeros({C, D});
  Real* const weight = weight_.mutable_value().data() + first_;
  for (std::size_t row = 0; row < C; ++row)
    std::swap_ranges(weight + row * C, weight + row * C + D, &taken_(row, 0));
}

// Added, not put in place of what is there: of two without the same head, the second took zeros,
// and either may end first.
AblatedHead::~AblatedHead() {
  const std::size_t C = taken_.shape()[0], D = taken_.shape()[1];
  Real* const weight = weight_.mutable_value().data() + first_;
  for (std::size_t row = 0; row < C; ++row)
    for (std::size_t i = 0; i < D; ++i) weight[row * C + i] += taken_(row, i);
}

}  // namespace heed
