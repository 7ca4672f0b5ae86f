// heads.hpp: the attention weights, queries and keys of a model, and ablation of single heads.
#pragma once

#include <cstddef>
#include <vector>

#include "heed/nn/gpt.hpp"

namespace HEED_NAMESPACE {

// What the heads of one layer computed for a batch of tokens.
struct LayerAttention {
  Array weights;  // (B, H, T, T): attention weights, rows are query positions
  Array queries;  // (B, H, T, D), D = C / H
  Array keys;     // (B, H, T, D)
};

// Runs the model on tokens (B, T) and returns the attention of each layer. Throws the same errors
// as the model.
std::vector<LayerAttention> capture_attention(const nn::Gpt& model, const Indices& tokens);

// Ablates one head of the model for the lifetime of this object: sets the head's columns of the
// output projection's weight to 0, so that the head adds nothing. The projection's bias does not
// change. Several may exist at once and be destroyed in any order.
class AblatedHead {
 public:
  // Throws Error for a layer or a head that does not exist.
  AblatedHead(const nn::Gpt& model, std::size_t layer, std::size_t head);
  ~AblatedHead();
  AblatedHead(const AblatedHead&) = delete;
  AblatedHead& operator=(const AblatedHead&) = delete;

 private:
  Tensor weight_;                 // (C, C), of the output projection
  std::size_t first_column_ = 0;  // of the head
  Array original_columns_;        // (C, D): the weights to restore
};

}  // namespace HEED_NAMESPACE
