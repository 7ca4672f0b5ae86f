// triangle.hpp: weighted sums of three vectors in a plot, and the task of the bank, for lesson
// 03.
#pragma once

#include "bank.hpp"
#include "gnuplot_picture.hpp"

namespace heed {

// The weighted sum as text: "0.5000 the + 0.2000 cat + 0.3000 sat".
inline std::string combination(const Array& weights, const Names& words) {
  std::string text;
  for (std::size_t j = 0; j < 3; ++j)
    text += (j > 0 ? " + " : "") + decimal(weights(j), 4) + " " + words[j];
  return text;
}

// The components 0 and 1 of the rows of x, and 1: (3, 3).
inline Array with_ones(const Array& x) {
  Array result = ones({3, 3});
  xt::view(result, xt::all(), xt::range(0, 2)) = xt::view(x, xt::all(), xt::range(0, 2));
  return result;
}

// (3, 3): row i has the weights, with sum one, that give the components 0 and 1 of row i of Z as a
// weighted sum of those of the rows of X.
inline Array barycentric_coordinates(const Array& Z, const Array& X) {
  return xt::linalg::dot(with_ones(Z), xt::linalg::inv(with_ones(X)));
}

// Plots the components 0 and 1 of the rows of X, Y and Z, (3, C) each.
inline void draw_triangle(const Array& X, const Array& Y, const Array& Z) {
  const std::string blue = "tc rgb '#0072B2'", red = "tc rgb '#D55E00'";
  picture_by_gnuplot(
      "02b_matmul_views", "triangle",
      gnuplot_block("X", X) + gnuplot_block("Y", Y) + gnuplot_block("Z", Z) +
          "set title 'With a negative weight, a weighted sum leaves the triangle of X'\n"
          "set xlabel 'component 0'\nset ylabel 'component 1'\nset key right top Left reverse\n"
          "set xrange [-0.4:1.1]\nset yrange [-0.1:2.6]\nset xtics 0.2\n"
          "set label \"'cat'\" at -0.15,2.14\n"
          "set label \"'the'\" at 0.315,0.03\n"
          "set label \"'sat'\" at 0.56,0.82\n"
          "set label \"'the'\" at 0.29,0.45 right front " +
          blue + "\nset label \"'cat'\" at 0.065,1.44 front " + blue +
          "\nset label \"'sat'\" at 0.03,1.72 front " + blue +
          "\nset label \"'the': -0.046 of 'cat'\" at 0.49,0.30 " + red +
          "\nset label \"'cat': -0.023 of 'the', -0.012 of 'sat'\" at -0.18,2.33 " + red +
          "\nset label \"'sat': -0.009 of 'cat'\" at 0.54,0.58 " + red +
          "\nplot $X using 1:2 with filledcurves closed fc rgb '#E8E8E8' title"
          " 'convex combinations of X',"
          " $X using 1:2 pt 7 ps 1.2 lc rgb '#444444' title 'rows of X',"
          " $Y using 1:2 pt 5 ps 1.2 lc rgb '#0072B2' title 'Y: no weight negative',"
          " $Z using 1:2 pt 9 ps 1.4 lc rgb '#D55E00' title 'Z: negative weights'");
}

inline void task_of_the_bank() {
  section("The task of the bank");
  say("In row form, the summary at 'bank' is a weighted sum of the embeddings. Which",
      "weights predict the next word best? Choose them by hand: weight 1 for the nearer",
      "topic word, which is three positions before 'bank' in both texts.");
  show_bank_losses(2, [](const BankText& text) {
    Array weights = zeros({text.X.shape(0), text.X.shape(0)});
    for (const std::size_t bank : text.banks) weights(bank, bank - 3) = 1;
    return weights;
  });
  say("", "No convex combination does better. Divide the fraction of p(floods) in lesson 01",
      "by exp(8 c0): p(floods) = 1 / (1 + exp(-8 (c0 - c1))). So p depends on c0 - c1",
      "only. In a convex combination c0 and c1 lie between 0 and 1, so the difference",
      "lies between -1 and 1. These weights reach 1 before 'floods' and -1 before",
      "'lends'. But they depend on the position alone. In the longer texts the word",
      "three positions before 'bank' is 'and', and the loss is that of a guess. So",
      "lessons 03 and 04 compute weights from the tokens.", "",
      "To watch O grow (each stop shows weight, from and to):", "",
      "  gdb build/release/lessons/02b_matmul_views", "  break add_scaled_row", "  run",
      "  continue");
}

}  // namespace heed
