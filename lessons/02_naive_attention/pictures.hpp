// pictures.hpp: weighted sums of three vectors in tables and a plot, and a list of scores, for
// lesson 02.
#pragma once

#include "gnuplot_picture.hpp"

namespace heed {

// Prints a table of the weights (3, 3) of the outputs u, v and w, and the outputs' lengths (3).
inline void show_weights(const std::string& name, const Array& weights, const Array& lengths) {
  const Array column = xt::view(lengths, xt::all(), xt::newaxis());
  show(xt::concatenate(xt::xtuple(weights, column), 1),
       {name, {"at u", "at v", "at w"}, {"of u", "of v", "of w", "length"}, 2});
}

// A gnuplot command that writes the three names beside the rows of x (3, 2).
inline std::string labels_of_rows(const Array& x, const Names& names, const std::string& options) {
  std::string script;
  for (std::size_t i = 0; i < 3; ++i)
    script += "set label '" + names[i] + "' at " + decimal(x(i, 0), 3) + "," + decimal(x(i, 1), 3) +
              " offset 0.8,0.5 front " + options + "\n";
  return script;
}

// Plots the rows of X, Y and Z, (3, 2) each, and the triangle of X.
inline void draw_triangle(const Array& X, const Array& Y, const Array& Z) {
  picture_by_gnuplot(
      "02_naive_attention", "triangle",
      gnuplot_block("X", X) + gnuplot_block("Y", Y) + gnuplot_block("Z", Z) +
          "set title 'Convex combinations stay in the triangle, scores / row sum leave it'\n"
          "set size ratio -1\nset xrange [-1.4:4.3]\nset yrange [-0.9:2.8]\n"
          "set xlabel 'component 0'\nset ylabel 'component 1'\n"
          "set key at graph 0.02,0.99 left top Left reverse\n" +
          labels_of_rows(X, {"u", "v", "w"}, "") +
          labels_of_rows(Y, {"at u", "at v", "at w"}, "tc rgb '#0072B2'") +
          labels_of_rows(Z, {"at u", "at v", "at w"}, "tc rgb '#D55E00'") +
          "plot $X using 1:2 with filledcurves closed fc rgb '#E8E8E8' title"
          " 'convex combinations of X',"
          " $X using 1:2 pt 7 ps 1.2 lc rgb '#444444' title 'rows of X',"
          " $Y using 1:2 pt 5 ps 1.2 lc rgb '#0072B2' title 'Y: no weight negative',"
          " $Z using 1:2 pt 9 ps 1.4 lc rgb '#D55E00' title 'Z: a negative weight'");
}

// Prints a line with ten decimals for each score: "score(the, cat)  -0.1217458397".
inline void print_scores(const Array& scores, const Names& words) {
  say("");
  for (std::size_t i = 0; i < scores.shape(0); ++i)
    for (std::size_t j = 0; j < scores.shape(1); ++j)
      say("score(" + words[i] + ", " + words[j] + ")  " + pad_left(decimal(scores(i, j), 10), 13));
}

}  // namespace heed
