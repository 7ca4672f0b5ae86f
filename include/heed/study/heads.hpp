// heads.hpp: looking inside a model: what each head asks, offers and looks at, and going without
// one.
#pragma once

#include <cstddef>
#include <vector>

#include "heed/nn/gpt.hpp"

namespace heed {

// What the heads of one layer did with a text.
struct LayerAttention {
  Array weights;  // (B, H, T, T): the share that row t of a head gives to column s
  Array queries;  // (B, H, T, D): what each place asks for, D = C / H
  Array keys;     // (B, H, T, D): what each place offers
};

// Runs the model on tokens (B, T) and keeps what its heads did, layer by layer. Throws Error as the
// model does.
std::vector<LayerAttention> capture_attention(const nn::Gpt& model, const Indices& tokens);

// For as long as it lives, the model works without one head: what that would add is zero, since
// its columns of the output projection are. (Its share of the projection's bias stays.) Several
// may live at once, and end in any order.
class AblatedHead {
 public:
  // Throws Error for a layer or a head that does not exist.
  AblatedHead(const nn::Gpt& model, std::size_t layer, std::size_t head);
  ~AblatedHead();
  AblatedHead(const AblatedHead&) = delete;
  AblatedHead& operator=(const AblatedHead&) = delete;

 private:
  Tensor weight_;          // (C, C), of the projection
  std::size_t first_ = 0;  // of the head's columns
  Array taken_;            // (C, D): those columns
};

}  // namespace heed
