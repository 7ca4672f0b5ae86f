// gnuplot_picture.hpp: plots of lessons that need a gnuplot script of their own.
#pragma once

#include <filesystem>

#include "lesson.hpp"

namespace heed {

// A gnuplot data block: a line for each row of x.
inline std::string gnuplot_block(const std::string& name, const Array& x) {
  std::string text = "$" + name + " << END\n";
  for (std::size_t i = 0; i < x.shape(0); ++i) {
    for (std::size_t c = 0; c < x.shape(1); ++c) text += decimal(x(i, c), 6) + " ";
    text += "\n";
  }
  return text + "END\n";
}

// Plots to the file runs/lessons/LESSON/NAME.svg with gnuplot, on a white background of 900 x 540
// pixels, and prints its name.
inline void picture_by_gnuplot(const std::string& lesson, const std::string& name,
                               const std::string& script) {
  const std::string folder = "runs/lessons/" + lesson;
  std::error_code ignored;  // draw_with_gnuplot reports a folder that cannot be written
  std::filesystem::create_directories(folder, ignored);
  const Plot plot = draw_with_gnuplot(
      folder, name,
      "set encoding utf8\n"
      "set terminal svg size 900,540 font 'sans-serif,14' background rgb 'white'\n"
      "set output '" +
          name +
          ".svg'\nset border 3 lc rgb '#888888'\nset tics nomirror out\n"
          "set grid lt 1 lw 0.8 lc rgb '#E4E4E4'\nset key spacing 1.3\n" +
          script + "\n");
  say("");
  picture(plot);
}

}  // namespace heed
