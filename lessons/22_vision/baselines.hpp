// baselines.hpp: three models without attention, for comparison in lesson 22.
#pragma once

#include "shapes.hpp"

namespace heed {

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

// A convolutional network: each of its three layers computes a row from the rows of 2 x 2
// neighbours, with the same weights everywhere. The logits come from the mean of all positions.
struct ConvolutionalNetwork {
  static constexpr std::size_t width = 44;
  explicit ConvolutionalNetwork(const Scope& scope)
      : patches(scope / "patches", 1, P, width), head(scope / "head", width, 4) {
    for (std::size_t i = 0; i < 3; ++i) layers.emplace_back(scope / "layers" / i, 4 * width, width);
  }
  Tensor operator()(const Tensor& images) const {
    const int n = int(images.size(0));
    int size = int(grid);
    Tensor x = reshape(patches(images), {n, size, size, -1});  // (B, 6, 6, C)
    for (const nn::Linear& layer : layers) {
      const Tensor up = slice(x, 1, 0, size - 1), down = slice(x, 1, 1, size);
      --size;
      x = gelu(layer(concat({slice(up, 2, 0, size), slice(up, 2, 1, size + 1),
                             slice(down, 2, 0, size), slice(down, 2, 1, size + 1)},
                            -1)));
    }
    return head(mean(x, {1, 2}));
  }
  nn::PatchEmbedding patches;
  std::vector<nn::Linear> layers;
  nn::Linear head;
};

}  // namespace heed
