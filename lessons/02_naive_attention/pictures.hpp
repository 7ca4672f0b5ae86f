// pictures.hpp: weighted sums of three vectors in a plot, and a list of scores, for lesson 02.
#pragma once

#include "gnuplot_picture.hpp"

namespace heed {

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
      "02_naive_attention", "triangle",
      gnuplot_block("X", X) + gnuplot_block("Y", Y) + gnuplot_block("Z", Z) +
          "set title 'With a negative weight, a weighted sum leaves the triangle of X'\n"
          "set xlabel 'component 0'\nset ylabel 'component 1'\nset key at graph 0.99,0.82 Left "
          "reverse\n"
          "set xrange [-0.4:1.1]\nset yrange [-0.1:2.6]\nset xtics 0.2\n"
          "set label \"'cat'\" at -0.15,2.14\n"
          "set label \"'the'\" at 0.315,0.03\n"
          "set label \"'sat'\" at 0.56,0.82\n"
          "set label \"'the'\" at 0.29,0.45 right front " +
          blue + "\nset label \"'cat'\" at 0.065,1.44 front " + blue +
          "\nset label \"'sat'\" at 0.03,1.72 front " + blue +
          "\nset label \"'the': -0.05 of 'cat'\" at 0.49,0.30 " + red +
          "\nset label \"'cat': -0.02 of 'the', -0.01 of 'sat'\" at -0.18,2.33 " + red +
          "\nset label \"'sat': -0.01 of 'cat'\" at 0.54,0.58 " + red +
          "\nplot $X using 1:2 with filledcurves closed fc rgb '#E8E8E8' title"
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
