// baselines.hpp: two models without attention, for comparison in lesson 22.
#pragma once

#include "shapes.hpp"

namespace heed {

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
// With padding, three columns of zeros stand left of the patches, so that patches of column 0 reach
// as many outputs as others.
struct ConvolutionalNetwork {
  static constexpr std::size_t width = 44;
  ConvolutionalNetwork(const Scope& scope, bool with_padding)
      : patches(scope / "patches", 1, P, width),
        head(scope / "head", width, 4),
        is_padded(with_padding) {
    for (std::size_t i = 0; i < 3; ++i) layers.emplace_back(scope / "layers" / i, 4 * width, width);
  }
  Tensor operator()(const Tensor& images) const {
    const int n = int(images.size(0));
    int rows = int(grid), columns = rows;
    Tensor x = reshape(patches(images), {n, rows, columns, -1});  // (B, 6, 6, C)
    if (is_padded) {
      x = concat({Tensor(zeros({images.size(0), grid, 3, width})), x}, 2);  // (B, 6, 9, C)
      columns += 3;
    }
    for (const nn::Linear& layer : layers) {
      const Tensor up = slice(x, 1, 0, rows - 1), down = slice(x, 1, 1, rows);
      --rows, --columns;
      x = gelu(layer(concat({slice(up, 2, 0, columns), slice(up, 2, 1, columns + 1),
                             slice(down, 2, 0, columns), slice(down, 2, 1, columns + 1)},
                            -1)));
    }
    return head(mean(x, {1, 2}));
  }
  nn::PatchEmbedding patches;
  std::vector<nn::Linear> layers;
  nn::Linear head;
  bool is_padded;
};

}  // namespace heed
