// vision_transformer.hpp: the vision transformer of lesson 22, and two models without attention.
#pragma once

#include "shapes.hpp"

namespace heed {

constexpr std::size_t C = 32, num_heads = 4, num_layers = 2;

// Blocks on the embeddings of patches, and a linear layer on the output of [CLS].
struct VisionTransformer {
  VisionTransformer(const Scope& scope, bool with_positions)
      : patches(scope / "patches", 1, P, C),
        class_token((scope / "class").parameter("weight", normal(scope, {1, 1, C}))),
        norm(scope / "norm", C),
        head(scope / "head", C, 4) {
    for (std::size_t i = 0; i < num_layers; ++i)
      blocks.emplace_back(scope / "blocks" / i, C, num_heads);
    if (!with_positions) return;
    positions = (scope / "positions").parameter("weight", normal(scope, {N + 1, C}));
  }
  // Initial values of the class token and of the position encodings.
  static Array normal(const Scope& scope, const Shape& shape) {
    return scope.generator.normal(shape, 0, 0.5);
  }

  // The input of block 0: (B, 1, side, side) -> (B, N + 1, C).
  Tensor embedded(const Tensor& images) const {
    const Tensor first = expand(class_token, {images.size(0), 1, C});
    const Tensor x = concat({first, patches(images)}, 1);
    return positions.defined() ? x + positions : x;
  }
  Tensor operator()(const Tensor& images) const {  // -> logits (B, 4)
    Tensor x = embedded(images);
    for (const nn::Block& block : blocks) x = block(x);
    return head(norm(select(x, 1, 0)));
  }

  nn::PatchEmbedding patches;  // a patch of P P pixels -> C numbers
  Tensor class_token;          // (1, 1, C)
  Tensor positions;            // (N + 1, C), undefined without position encodings
  std::vector<nn::Block> blocks;
  nn::LayerNorm norm;
  nn::Linear head;
};

// Logistic regression: the logits are linear in the pixels.
struct LinearModel {
  explicit LinearModel(const Scope& scope) : layer(scope / "layer", side * side, 4) {}
  Tensor operator()(const Tensor& images) const {
    return layer(reshape(images, {images.size(0), side * side}));
  }
  nn::Linear layer;
};

// An MLP on all pixels with one hidden layer of 64 units.
struct PixelMlp {
  explicit PixelMlp(const Scope& scope)
      : up(scope / "up", side * side, 64), down(scope / "down", 64, 4) {}
  Tensor operator()(const Tensor& images) const {
    return down(gelu(up(reshape(images, {images.size(0), side * side}))));
  }
  nn::Linear up, down;
};

}  // namespace heed
