// 03_triangle.hpp: weighted sums of three vectors in a plot, and the task of the bank, for lesson
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

// A gnuplot data block with the name and the components 0 and 1 of each row.
inline std::string labelled_points(const std::string& name, const Names& words, const Array& x) {
  std::string text = "$" + name + " << END\n";
  for (std::size_t i = 0; i < 3; ++i)
    text += words[i] + " " + decimal(x(i, 0), 4) + " " + decimal(x(i, 1), 4) + "\n";
  return text + "END\n";
}

// Plots the components 0 and 1 of the rows of X, Y and Z, (3, C) each.
inline void draw_triangle(const Names& words, const Array& X, const Array& Y, const Array& Z) {
  picture_by_gnuplot(
      "03_matmul_views", "triangle",
      labelled_points("X", words, X) + labelled_points("Y", words, Y) +
          labelled_points("Z", words, Z) +
          "set title 'Weighted sums of the three rows of X'\n"
          "set xlabel 'component 0'\nset ylabel 'component 1'\nset key right top\n"
          "set xrange [-0.7:1.1]\nset yrange [-0.2:2.8]\nset xtics 0.2\n"
          "plot $X using 2:3 with filledcurves closed fc rgb '#E8E8E8' title"
          " 'all convex combinations of the rows of X',"
          " $X using 2:3 pt 7 ps 1.2 lc rgb '#444444' title 'X',"
          " $X using 2:3:1 with labels left offset 0.9,0.3 notitle,"
          " $Y using 2:3 pt 5 ps 1.2 lc rgb '#0072B2' title 'Y, no weight negative',"
          " $Y using 2:3:1 with labels left offset 0.9,0.3 tc rgb '#0072B2' notitle,"
          " $Z using 2:3 pt 6 ps 1.4 lw 2 lc rgb '#D55E00' title 'Z, some weights negative',"
          " $Z using 2:3:1 with labels right offset -0.9,0.3 tc rgb '#D55E00' notitle");
}

inline void task_of_the_bank() {
  section("The task of the bank");
  say("In row form, the summary at 'bank' is a weighted sum of the embeddings. Which",
      "weights predict the next word best? Choose them by hand: weight 1 for the nearer",
      "topic word, which is three positions before 'bank' in both texts.");
  show_bank_losses(3, [](const BankText& text) {
    Array weights = zeros({text.X.shape(0), text.X.shape(0)});
    for (const std::size_t bank : text.banks) weights(bank, bank - 3) = 1;
    return weights;
  });
  say("", "No convex combination does better: c0 and c1 then lie between 0 and 1, so no p",
      "is above exp(8) / (exp(8) + 1). But these weights depend on the position alone.",
      "In the longer texts the word three positions before 'bank' is 'and', and the",
      "loss is that of a guess. So lessons 04 and 05 compute better weights.", "",
      "To watch O grow (each stop shows weight, from and to):", "",
      "  gdb build/release/lessons/03_matmul_views", "  break add_scaled_row", "  run",
      "  continue");
}

}  // namespace heed
