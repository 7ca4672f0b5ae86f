// by_hand.hpp: RMSNorm, rotary position embedding, SwiGLU and grouped queries by loops (lesson
// 24).
#pragma once

#include <cmath>

#include "lesson.hpp"

namespace heed {

// x (T, C): each row divided by its root mean square, times the weight (C).
inline Array rms_norm_by_hand(const Array& x, const Array& weight) {
  const std::size_t T = x.shape(0), C = x.shape(1);
  Array y = zeros({T, C});
  for (std::size_t t = 0; t < T; ++t) {
    double squares = 0;
    for (std::size_t c = 0; c < C; ++c) squares += double(x(t, c)) * x(t, c);
    const double rms = std::sqrt(squares / double(C) + 1e-5);
    for (std::size_t c = 0; c < C; ++c) y(t, c) = Real(x(t, c) / rms * weight(c));
  }
  return y;
}

// The largest difference between scores of query-key pairs of the same distance: S (T, T), rows of
// which are queries.
inline double spread_on_diagonals(const Array& S) {
  double spread = 0;
  for (std::size_t t = 1; t < S.shape(0); ++t)
    for (std::size_t s = 1; s < S.shape(1); ++s)
      spread = std::max(spread, std::abs(double(S(t, s)) - S(t - 1, s - 1)));
  return spread;
}

// The angle of pair i at position t, for a head of width D.
inline double rotary_angle(std::size_t t, std::size_t i, std::size_t D) {
  return double(t) / std::pow(10000.0, 2 * double(i) / double(D));
}

// x (T, H D): in each head, pair i of row t rotated by its angle.
inline Array rotary_by_hand(const Array& x, std::size_t H) {
  const std::size_t T = x.shape(0), D = x.shape(1) / H;
  Array y = zeros({T, H * D});
  for (std::size_t t = 0; t < T; ++t)
    for (std::size_t h = 0; h < H; ++h)
      for (std::size_t i = 0; i < D / 2; ++i) {
        const double angle = rotary_angle(t, i, D);
        const std::size_t c = h * D + 2 * i;
        y(t, c) = Real(x(t, c) * std::cos(angle) - x(t, c + 1) * std::sin(angle));
        y(t, c + 1) = Real(x(t, c) * std::sin(angle) + x(t, c + 1) * std::cos(angle));
      }
  return y;
}

// The cosines and sines of these angles: (T, D / 2) each.
inline std::pair<Array, Array> rotary_tables(std::size_t T, std::size_t D) {
  Array cosines = zeros({T, D / 2}), sines = cosines;
  for (std::size_t t = 0; t < T; ++t)
    for (std::size_t i = 0; i < D / 2; ++i) {
      cosines(t, i) = Real(std::cos(rotary_angle(t, i, D)));
      sines(t, i) = Real(std::sin(rotary_angle(t, i, D)));
    }
  return {cosines, sines};
}

// x (T, in) W^T for a weight W (out, in).
inline Array times(const Array& x, const Tensor& weight) {
  return xt::linalg::dot(x, xt::transpose(weight.value()));
}

// x (T, C) -> (T, C), without biases.
inline Array swiglu_by_hand(const nn::Mlp& mlp, const Array& x) {
  const Array gate = times(x, mlp.gate->weight), up = times(x, mlp.up.weight);  // (T, 8C/3)
  Array hidden = gate;
  for (std::size_t i = 0; i < hidden.size(); ++i) {
    const double z = gate.data()[i];
    hidden.data()[i] = Real(z / (1 + std::exp(-z)) * up.data()[i]);
  }
  return times(hidden, mlp.down.weight);
}

// Causal attention with grouped queries and rotary embedding: x (T, C) -> (T, C).
inline Array grouped_by_hand(const nn::MultiHeadAttention& attention, const Array& x) {
  const std::size_t H = attention.num_heads, H_kv = attention.num_kv_heads;
  const std::size_t T = x.shape(0), C = x.shape(1), D = C / H;
  const Array q = rotary_by_hand(times(x, attention.query.weight), H),  // (T, H D)
      k = rotary_by_hand(times(x, attention.key.weight), H_kv),         // (T, H_kv D)
      v = times(x, attention.value.weight);                             // (T, H_kv D)
  Array heads = zeros({T, C});
  for (std::size_t h = 0; h < H; ++h) {
    const std::size_t g = h / (H / H_kv);  // the head of keys and values
    for (std::size_t t = 0; t < T; ++t) {
      std::vector<double> e(t + 1);
      double sum = 0;
      for (std::size_t s = 0; s <= t; ++s) {
        double score = 0;
        for (std::size_t d = 0; d < D; ++d) score += double(q(t, h * D + d)) * k(s, g * D + d);
        sum += e[s] = std::exp(score / std::sqrt(double(D)));
      }
      for (std::size_t s = 0; s <= t; ++s)
        for (std::size_t d = 0; d < D; ++d)
          heads(t, h * D + d) += Real(e[s] / sum * v(s, g * D + d));
    }
  }
  return times(heads, attention.out.weight);
}

// The whole block: x (T, C) -> (T, C).
inline Array block_by_hand(const nn::Block& block, const Array& x) {
  const Array attended =
      x + grouped_by_hand(block.attention, rms_norm_by_hand(x, block.norm1.weight.value()));
  return attended +
         swiglu_by_hand(block.mlp, rms_norm_by_hand(attended, block.norm2.weight.value()));
}

}  // namespace heed
