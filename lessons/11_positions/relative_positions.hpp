// relative_positions.hpp: the dot products of sinusoidal position encodings, for lesson 11.
#pragma once

#include "by_hand.hpp"
#include "gnuplot_picture.hpp"

namespace heed {

// The number of rows t of scores (T, T) whose largest element is in column t + shift.
inline std::size_t count_largest(const Array& scores, int shift) {
  const Indices largest = argmax(Tensor(scores), -1);  // (T)
  std::size_t count = 0;
  for (std::size_t t = 0; t < largest.size(); ++t) count += largest(t) == int(t) + shift;
  return count;
}

// Draws the scores of the query at position 20 as curves over s - t.
inline void picture_of_scores(const Array& products, const Array& rotated) {
  Array points = zeros({24, 3});
  for (int d = -20; d < 4; ++d)
    xt::row(points, d + 20) = Array{Real(d), products(20, 20 + d), rotated(20, 20 + d)};
  picture_by_gnuplot(
      "11_positions", "dots",
      gnuplot_block("scores", points) +
          "set xrange [-20.5:3.5]\nset yrange [0:19]\nset key top left\n" +
          "set title 'A rotation moves the largest score to the previous position'\n" +
          "set xlabel 'relative position s - t (t = 20)'\nset ylabel 'dot product'\n" +
          "set label 'largest at s - t = -1' at -1.2,16.8 right tc rgb '#0072B2'\n" +
          "set label 'largest at 0' at 0.2,16.8 tc rgb '#D55E00'\n" +
          "plot $scores using 1:3 with linespoints lw 2 pt 7 ps 0.7 lc rgb '#0072B2' " +
          "title 'encoding of t rotated back by one step', " +
          "$scores using 1:2 with linespoints lw 2 pt 7 ps 0.7 lc rgb '#D55E00' " +
          "title 'encodings as they are'");
}

inline void relative_positions(const Array& P, double base) {
  section("Relative positions");
  const std::size_t rows = P.shape(0);
  say("In one pair of columns, let a and b be the angles of positions t and s. The pair",
      "adds sin a sin b + cos a cos b = cos(a - b) to the dot product of both",
      "encodings. So the dot product depends only on the RELATIVE POSITION s - t, and",
      "it is largest for s = t. But scores have W_Q and W_K between the encodings. A",
      "rotation maps (sin a, cos a) to (sin(a - d), cos(a - d)), by the addition",
      "formulas. If W_Q^T W_K rotates each pair back by the angle d of one step, it",
      "maps the encoding of t to that of t - 1. Then the part of the score that depends",
      "only on the positions is largest at s = t - 1, for every t >= 1: one matrix",
      "finds the previous token at all positions. Vaswani et al. (2017, section 3.5)",
      "chose sinusoids, because they expected this to help: the encoding of t + k is a",
      "linear function of that of t.");
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
  picture_of_scores(products, scores);
  say("", "The largest score leads by only 16.00 - 14.92 = 1.08; a factor on W_Q^T W_K",
      "increases the lead. The rank of W_Q^T W_K is at most d_k, so it can rotate all",
      "pairs only if d_k is the width. Farther away the scores become smaller, but not",
      "at every step.", "",
      "W_Q and W_K need not be such a rotation: scores may depend on more than s - t.",
      "Other methods put s - t itself into the scores. Shaw et al. (2018) add a learned",
      "vector for s - t to the key. ALiBi (Press et al. 2022) subtracts from the score",
      "a number that grows with t - s. ROTARY EMBEDDING (RoPE; Su et al. 2021,",
      "RoFormer) rotates each pair of the query at t by the angle of t, each pair of",
      "the key at s by that of s. If we rotate both back by the angle of t, the dot",
      "product stays the same, and only the key is rotated, by the angle of s - t. So",
      "the scores depend on the positions only through s - t (exercise 11).");
}

}  // namespace heed
