// by_hand.hpp: patch embedding, the input of a vision transformer, attention weights and
// attention rollout, with loops, for lesson 22.
#pragma once

#include <cmath>

#include "vision_transformer.hpp"

namespace heed {

// images (B, 1, side, side), weight (C, P P), bias (C) -> (B, N, C)
inline Array embeddings_by_hand(const Array& images, const Array& weight, const Array& bias) {
  Array result = zeros({images.shape(0), N, C});
  for (std::size_t b = 0; b < images.shape(0); ++b)
    for (std::size_t n = 0; n < N; ++n)
      for (std::size_t c = 0; c < C; ++c) {
        const std::size_t top = n / grid * P, left = n % grid * P;  // of patch n, in pixels
        double sum = bias(c);
        for (std::size_t i = 0; i < P; ++i)
          for (std::size_t j = 0; j < P; ++j)
            sum += double(weight(c, i * P + j)) * double(images(b, 0, top + i, left + j));
        result(b, n, c) = Real(sum);
      }
  return result;
}

// The class token in front of the patches, plus position encodings: (B, N + 1, C).
inline Array input_by_hand(const VisionTransformer& model, const Array& images) {
  const Array embeddings = embeddings_by_hand(images, model.patches.projection.weight.value(),
                                              model.patches.projection.bias.value());
  const Array &first = model.class_token.value(), &positions = model.positions.value();
  Array x = zeros({images.shape(0), N + 1, C});
  for (std::size_t b = 0; b < images.shape(0); ++b)
    for (std::size_t t = 0; t <= N; ++t)
      for (std::size_t c = 0; c < C; ++c)
        x(b, t, c) = (t == 0 ? first(0, 0, c) : embeddings(b, t - 1, c)) + positions(t, c);
  return x;
}

// The attention weights (N + 1) of the query 0 of x (N + 1, C), the mean over the heads.
inline Array class_weights_by_hand(const nn::MultiHeadAttention& attention, const Array& x) {
  const Array Q = attention.query(Tensor(x)).value(), K = attention.key(Tensor(x)).value();
  const std::size_t T = x.shape(0), D = C / num_heads;
  Array mean = zeros({T});
  for (std::size_t h = 0; h < num_heads; ++h) {
    std::vector<double> e(T, 0);
    double sum = 0;
    for (std::size_t s = 0; s < T; ++s) {
      for (std::size_t d = h * D; d < (h + 1) * D; ++d) e[s] += double(Q(0, d)) * double(K(s, d));
      e[s] = std::exp(e[s] / std::sqrt(double(D)));
      sum += e[s];
    }
    for (std::size_t s = 0; s < T; ++s) mean(s) += Real(e[s] / sum / double(num_heads));
  }
  return mean;
}

// Attention rollout of two layers with attention weights (T, T), for the query 0: a sum over all
// paths from query 0 in layer 1 through token s to token r in layer 0.
inline Array rollout_by_hand(const Array& layer_0, const Array& layer_1) {
  const std::size_t T = layer_0.shape(0);
  const auto step = [](const Array& A, std::size_t t, std::size_t s) {
    return (double(A(t, s)) + (t == s ? 1 : 0)) / 2;
  };
  Array result = zeros({T});
  for (std::size_t r = 0; r < T; ++r)
    for (std::size_t s = 0; s < T; ++s)
      result(r) += Real(step(layer_1, 0, s) * step(layer_0, s, r));
  return result;
}

// x rounded to multiples of 1/8, so that sums of products have no rounding error (lesson 11).
inline Array eighths(const Array& x) { return xt::round(x * Real(8)) / Real(8); }

// The logits of a model whose only layer is attention (no norm before it, no residual connection,
// no MLP), for images of multiples of 1/8.
inline Tensor one_layer_logits(const VisionTransformer& model, const Array& images) {
  const Tensor x = model.embedded(Tensor(eighths(images)));
  return model.head(model.norm(select(model.blocks[0].attention(x), 1, 0)));
}

}  // namespace heed
