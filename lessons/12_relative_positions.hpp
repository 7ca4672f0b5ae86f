// 12_relative_positions.hpp: the dot products of sinusoidal position encodings, for lesson 12.
#pragma once

#include "12_by_hand.hpp"

namespace heed {

// The number of rows t of scores (T, T) whose largest element is in column t + shift.
inline std::size_t count_largest(const Array& scores, int shift) {
  const Indices largest = argmax(Tensor(scores), -1);  // (T)
  std::size_t count = 0;
  for (std::size_t t = 0; t < largest.size(); ++t) count += largest(t) == int(t) + shift;
  return count;
}

// The scores of the query at position 20 as curves over s - t.
inline std::vector<Series> curves_of_scores(const Array& products, const Array& rotated) {
  Series before{"encodings as they are", {}, {}, /*points=*/true},
      after{"queries rotated back by one step", {}, {}, /*points=*/true};
  for (int d = -20; d < 4; ++d) {
    before.append(d, products(20, 20 + d));
    after.append(d, rotated(20, 20 + d));
  }
  return {before, after};
}

inline void relative_positions(const Array& P, double base) {
  section("Relative positions");
  const std::size_t rows = P.shape(0);
  say("In one pair of columns, let a and b be the angles of positions t and s. The pair",
      "adds sin a sin b + cos a cos b = cos(a - b) to the dot product of both",
      "encodings. So the dot product depends only on the RELATIVE POSITION s - t, and",
      "it is largest for s = t. But scores have W_Q and W_K between the encodings. If",
      "W_Q^T W_K rotates each pair back by the angle of one step, it maps the encoding",
      "of t to that of t - 1. Then the largest score is at s = t - 1, for every t: one",
      "matrix finds the previous token at all positions.");
  const Array products = xt::linalg::dot(P, xt::transpose(P));  // (24, 24)
  check("dot products: sums of cosines by hand = P P^T", dot_products_by_hand(rows, base), products,
        1e-4);
  const Array rotation = rotation_by_hand(-1, base), rotated = xt::linalg::dot(P, rotation);
  const Array P0 = xt::view(P, xt::range(0, 23)), back = xt::view(rotated, xt::range(1, 24));
  check("positions 1 to 23, rotated by hand = positions 0 to 22", back, P0);
  const Array scores = xt::linalg::dot(rotated, xt::transpose(P));  // (24, 24): rows t, columns s
  say("", "  s - t   P P^T   rotated");
  for (const int d : {-3, -2, -1, 0, 1, 2, 3})
    say(pad_left(std::to_string(d), 7) + pad_left(decimal(products(12, 12 + d), 2), 8) +
        pad_left(decimal(scores(12, 12 + d), 2), 10));
  say("");
  claim("rotated: the largest score of each t >= 1 is at s = t - 1",
        count_largest(scores, -1) == rows - 1, "not for all");
  picture("12_positions", "dots", curves_of_scores(products, scores),
          {"dot products of position encodings", "s - t", "dot product"});
  say("", "W_Q and W_K need not be such a rotation, so scores may depend on more than s -",
      "t. ROTARY EMBEDDING (RoPE; Su et al. 2021, RoFormer), also called a position",
      "encoding, adds no vectors: it rotates the query at t by the angles of t, the key",
      "at s by those of s. Then the scores depend on positions only through s - t",
      "(exercise 12).");
}

}  // namespace heed
