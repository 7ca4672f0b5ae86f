// helpers.hpp: rounding errors and the picture of lesson 02.
#pragma once

#include "gnuplot_picture.hpp"

namespace heed {

// "19.7, -36.4 and 17.7"
inline std::string list_of(const Array& x) {
  return decimal(x(0), 1) + ", " + decimal(x(1), 1) + " and " + decimal(x(2), 1);
}

inline void explain_rounding() {
  section("Rounding errors");
  say("You may skip this section. It explains why `same:` allows small differences.", "",
      "A float has 24 binary digits, about seven decimal digits. Each addition rounds",
      "its result to these digits. The difference from the exact result is the ROUNDING",
      "ERROR. It depends on the order of the additions:");
  const Real large = 100'000'000;
  say("", "(100000000 + 1) - 100000000 = " + decimal((large + 1) - large, 0),
      "(100000000 - 100000000) + 1 = " + decimal((large - large) + 1, 0), "",
      "A matrix library chooses an order that is fast on the machine. So test whether",
      "two floats are close, not whether they are equal (==).");
}

// Row i of the result is the weighted sum of all rows of X with the weights in row i.
inline Array weighted_sums(const Array& weights, const Array& X) {
  Array sums = zeros({weights.shape(0), X.shape(1)});
  for (std::size_t i = 0; i < weights.shape(0); ++i)
    for (std::size_t j = 0; j < X.shape(0); ++j)
      for (std::size_t d = 0; d < X.shape(1); ++d) sums(i, d) += weights(i, j) * X(j, d);
  return sums;
}

// Takes the weights (3, 3) that were used in the rounds 5 and 6, and the smallest absolute value of
// a score after round 5, divided by both lengths.
inline void explain_lengths(const Array& round5, const Array& round6, double smallest) {
  say("", "In round 5 large scores of both signs cancel in the row sums. The division by a",
      "small sum makes large weights. The weights of 'the' are " + list_of(xt::row(round5, 0)) +
          ".",
      "They sum to one, but make 'the' 100 times as long. So it is not enough that",
      "weights sum to one.", "",
      "Why do the lengths hardly change after round 6? Two vectors lie on one line if",
      "their dot product is plus or minus the product of their lengths. After round 5",
      "this is almost so:");
  claim("each |score| is at least 0.9999 times the product of both lengths", smallest >= 0.9999,
        decimal(smallest, 6));
  say("", "So x_i is almost a_i u, with a number a_i and one vector u of length 1. Then the",
      "scores are a_i a_j, and their row sum is a_i (a_0 + a_1 + a_2). In the division",
      "a_i cancels: each row has the weights a_j / (a_0 + a_1 + a_2), and all outputs",
      "are equal. Equal vectors have equal scores. So their outputs are their mean, and",
      "they do not change.");
  show("weights in round 6", round6, {"the", "cat", "sat"}, {"the", "cat", "sat"});
}

// Draws the lengths (8, 3) over the rounds, for both kinds of weights.
inline void draw_lengths(const Array& quotients, const Array& without_negative) {
  picture_by_gnuplot(
      "02_naive_attention", "lengths",
      gnuplot_block("quotients", quotients) + gnuplot_block("bounded", without_negative) +
          "set title 'Weights that sum to one do not bound the lengths if some are negative'\n"
          "set logscale y\nset xrange [-0.1:8.2]\nset yrange [1:4000]\nset xtics 0,1,7\nunset key\n"
          "set xlabel 'round'\nset ylabel 'length (log axis)'\n"
          "set label \"weights = score / row sum\" at 1.8,40 tc rgb '#D55E00'\n"
          "set label \"weights = max(score, 0) / row sum\" at 4.1,3.4 tc rgb '#0072B2'\n"
          "set label \"large scores of both signs\\nnearly cancel in the row sums\" at 1.4,700\n"
          "set arrow from 3.2,370 to 4.4,105 lc rgb '#444444' filled\n"
          "set label \"all three\" at 7.15,1630 tc rgb '#D55E00'\n"
          "set label \"from above:\\n'the', 'sat', 'cat'\" at 5.15,540 tc rgb '#D55E00'\n"
          "set label \"'cat'\" at 7.15,2.5 tc rgb '#0072B2'\n"
          "set label \"'the' and 'sat'\" at 7.15,1.78 tc rgb '#0072B2'\n"
          "plot for [i=1:3] $quotients using 0:i with linespoints lw 2 pt 7 ps 0.7"
          " lc rgb '#D55E00',"
          " for [i=1:3] $bounded using 0:i with linespoints lw 2 pt 7 ps 0.7 lc rgb '#0072B2'");
}

}  // namespace heed
