// 02_helpers.hpp: rounding errors and the picture of lesson 02.
#pragma once

#include "gnuplot_picture.hpp"

namespace heed {

// "19.6, -36.2 and 17.6"
inline std::string list_of(const Array& x) {
  return decimal(x(0), 1) + ", " + decimal(x(1), 1) + " and " + decimal(x(2), 1);
}

inline void explain_rounding() {
  section("Rounding errors");
  say("You may skip this section. It explains why `check` allows small differences.", "",
      "A float has 24 binary digits, about seven decimal digits. Each addition rounds",
      "its result to these digits. The difference from the exact result is the ROUNDING",
      "ERROR. It depends on the order of the additions:");
  const Real large = 100'000'000;
  say("", "(100000000 + 1) - 100000000 = " + decimal((large + 1) - large, 0),
      "(100000000 - 100000000) + 1 = " + decimal((large - large) + 1, 0), "",
      "A matrix library chooses an order that is fast on the machine. So test whether",
      "two floats are close, not whether they are equal (==).");
}

// Draws the lengths (8, 3) over the steps, for both kinds of weights.
inline void draw_lengths(const Array& quotients, const Array& without_negative,
                         const Names& words) {
  std::string script = gnuplot_block("quotients", quotients) +
                       gnuplot_block("bounded", without_negative) +
                       "set title 'Lengths of the vectors, step by step'\nset logscale y\n"
                       "set xrange [-0.1:7.1]\nset yrange [1:4000]\nset key left top\n"
                       "set xlabel 'step'\nset ylabel 'length (log axis)'\nplot ";
  for (const std::string kind : {"quotients", "bounded"})
    for (std::size_t i = 0; i < 3; ++i) {
      const bool all = kind == "quotients";
      script += std::string(all && i == 0 ? "" : ", ") + "$" + kind +
                " using 0:" + std::to_string(i + 1) + " with linespoints lw 2 pt " +
                Names{"5", "7", "9"}[i] + " lc rgb '" + (all ? "#D55E00" : "#0072B2") +
                "' title \"'" + words[i] + "', " + (all ? "score" : "max(score, 0)") +
                " / row sum\"";
    }
  picture_by_gnuplot("02_naive_attention", "lengths", script);
}

}  // namespace heed
