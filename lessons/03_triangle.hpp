// 03_triangle.hpp: weighted sums of three vectors as text and in a plot, for lesson 03.
#pragma once

#include <filesystem>

#include "lesson.hpp"

namespace heed {

// The weighted sum as text: "0.5000 the + 0.2000 cat + 0.3000 sat".
inline std::string combination(const Array& weights, const Names& words) {
  std::string text;
  for (std::size_t j = 0; j < 3; ++j)
    text += (j > 0 ? " + " : "") + decimal(weights(j), 4) + " " + words[j];
  return text;
}

// A gnuplot data block with the components 0 and 1 of each row, and row 0 again to close a
// triangle.
inline std::string data_block(const std::string& name, const Names& words, const Array& x) {
  std::string text = "$" + name + " << END\n";
  for (const std::size_t i : {0U, 1U, 2U, 0U})
    text += words[i] + " " + decimal(x(i, 0), 4) + " " + decimal(x(i, 1), 4) + "\n";
  return text + "END\n";
}

// Plots the components 0 and 1 of the rows of X, Y and Z, (3, C) each.
inline Plot draw_triangle(const Names& words, const Array& X, const Array& Y, const Array& Z) {
  const std::string folder = "runs/lessons/03_matmul_views";
  std::error_code ignored;  // draw_with_gnuplot reports a folder that cannot be written
  std::filesystem::create_directories(folder, ignored);
  return draw_with_gnuplot(
      folder, "triangle",
      data_block("X", words, X) + data_block("Y", words, Y) + data_block("Z", words, Z) +
          "set terminal svg size 640,480 font 'sans-serif,14' background rgb 'white'\n"
          "set output 'triangle.svg'\nset xlabel 'component 0'\nset ylabel 'component 1'\n"
          "set xrange [-0.4:0.8]\nset yrange [-0.2:2.6]\nset xtics 0.2\nset key spacing 1.3\n"
          "plot $X using 2:3 with lines lw 2 lc rgb '#888888' title 'convex combinations of X',"
          " $X every ::::2 using 2:3:1 with labels left offset 0.8,0.3 notitle,"
          " $Y using 2:3 pt 7 lc rgb '#0072B2' title 'Y, weights not negative',"
          " $Z using 2:3 pt 6 lw 2 lc rgb '#D55E00' title 'Z, some weights negative'\n");
}

}  // namespace heed
