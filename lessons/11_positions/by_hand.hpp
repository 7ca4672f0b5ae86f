// by_hand.hpp: attention and sinusoidal position encodings, by hand, for lesson 11.
#pragma once

#include <cmath>

#include "reversal_task.hpp"

namespace heed {

// The output of self-attention for the tokens x (T, C): (T, C).
inline Array output_of(const nn::MultiHeadAttention& attention, const Array& x) {
  return select(attention(unsqueeze(Tensor(x), 0)), 0, 0).value();
}

// Two heads of dimension 2 without an output projection: x (T, 4), result (T, 4).
inline Array heads_by_hand(const nn::MultiHeadAttention& attention, const Array& x) {
  const Array Q = attention.query(Tensor(x)).value(), K = attention.key(Tensor(x)).value();
  const Array V = attention.value(Tensor(x)).value();  // (T, 4) each
  Array output = zeros(shape_of(Q));
  for (std::size_t first : {0u, 2u}) {
    const Array q = xt::view(Q, xt::all(), xt::range(first, first + 2)),
                k = xt::view(K, xt::all(), xt::range(first, first + 2));
    const Array v = xt::view(V, xt::all(), xt::range(first, first + 2));
    const Array e = xt::exp(xt::linalg::dot(q, xt::transpose(k)) / std::sqrt(Real(2))),
                sums = xt::sum(e, {1});
    xt::view(output, xt::all(), xt::range(first, first + 2)) =
        xt::linalg::dot(e, v) / xt::view(sums, xt::all(), xt::newaxis());
  }
  return output;
}

// The angle of the pair of columns i and i + 1 (i is even) at position t.
inline double angle(double t, std::size_t i, double base) {
  return t / std::pow(base, double(i) / double(width));
}

// Sinusoidal position encodings (length, width).
inline Array sinusoids(std::size_t rows, double base) {
  Array P = zeros({rows, width});
  for (std::size_t t = 0; t < rows; ++t)
    for (std::size_t i = 0; i < width; i += 2) {
      P(t, i) = Real(std::sin(angle(double(t), i, base)));
      P(t, i + 1) = Real(std::cos(angle(double(t), i, base)));
    }
  return P;
}

// The mean cross-entropy if each of seven letters is correct equally often.
inline double mean_loss(const std::vector<double>& probabilities) {
  double sum = 0;
  for (const double p : probabilities) sum -= std::log(p) / 7;
  return sum;
}

// The dot products of the encodings of positions s and t: sums of cos(angle(s - t)).
inline Array dot_products_by_hand(std::size_t positions, double base) {
  Array products = zeros({positions, positions});
  for (std::size_t s = 0; s < positions; ++s)
    for (std::size_t t = 0; t < positions; ++t)
      for (std::size_t i = 0; i < width; i += 2)
        products(s, t) += Real(std::cos(angle(double(s) - double(t), i, base)));
  return products;
}

// The matrix that maps the encoding of each position t to that of t + steps: it rotates each pair
// of columns by a fixed angle.
inline Array rotation_by_hand(double steps, double base) {
  Array rotation = zeros({width, width});
  for (std::size_t i = 0; i < width; i += 2) {
    rotation(i, i) = rotation(i + 1, i + 1) = Real(std::cos(angle(steps, i, base)));
    rotation(i + 1, i) = Real(std::sin(angle(steps, i, base)));
    rotation(i, i + 1) = -rotation(i + 1, i);
  }
  return rotation;
}

}  // namespace heed
