// bank_plane.hpp: plots the bank texts and outputs at the second 'bank' in the plane of water and
// money.
#pragma once

#include <cmath>

#include "bank.hpp"
#include "gnuplot_picture.hpp"

namespace heed {

// A dot of the picture: "01 causal mean", and the output (2) of bank_output().
struct BankDot {
  std::string name;
  Array output;
};

// "loss 0.69": that of the correct word 'lends' for an output (2).
inline std::string bank_loss_text(const Array& output) {
  const double loss = std::log1p(std::exp(8 * double(output(0) - output(1))));
  return "loss " + decimal(loss, loss < 0.01 ? 4 : 2);
}

// A gnuplot command that writes the text at the point (x, y).
inline std::string text_at(double x, double y, const std::string& text,
                           const std::string& options = "") {
  return "set label \"" + text + "\" at " + decimal(x, 3) + "," + decimal(y, 3) + " " + options +
         "\n";
}

// The lines on which the loss is the same, with their losses. p(lends) depends on c1 - c0 only.
inline std::string lines_of_equal_loss() {
  std::string script;
  for (const double difference : {-0.5, -0.25, 0.25, 0.5}) {
    const std::string x = decimal(1.1 - difference, 2);
    script += "set arrow from " + decimal(std::max(-0.1, -0.1 - difference), 2) + "," +
              decimal(std::max(-0.1, -0.1 + difference), 2) + " to " + x +
              ",1.1 nohead dt 2 lc rgb '#999999'\n";
  }
  for (const double difference : {-0.5, -0.25, 0.0, 0.25, 0.5})
    script += text_at(1.1 - difference, 1.14, decimal(std::log1p(std::exp(-8 * difference)), 2),
                      "center tc rgb '#555555'");
  return script;
}

// Plots the embeddings of the bank texts, the lines of equal loss, and the outputs of several
// methods at the second 'bank' in their order: arrows lead to the last one, the lesson's own.
inline void draw_bank_plane(const std::string& lesson, const std::vector<BankDot>& dots) {
  const std::string grey = "tc rgb '#555555'";
  std::string script =
      gnuplot_block("words", {{1, 0}, {0, 1}, {Real(0.5), Real(0.5)}, {0, 0}}) +
      "set title \"The output at the second 'bank' (dots), and the embeddings (squares)\" offset "
      "0,0.6\n"
      "set size ratio -1\nset xrange [-0.1:1.6]\nset yrange [-0.1:1.1]\nunset key\nunset grid\n"
      "set xtics 0,0.5,1\nset ytics 0,0.5,1\n"
      "set xlabel 'component 0: water'\nset ylabel 'component 1: money'\n"
      "set object 1 polygon from -0.1,-0.1 to 1.1,1.1 to 1.6,1.1 to 1.6,-0.1 to -0.1,-0.1"
      " fc rgb '#E3F0F8' fs solid noborder behind\n"
      "set object 2 polygon from -0.1,-0.1 to 1.1,1.1 to -0.1,1.1 to -0.1,-0.1"
      " fc rgb '#FCEBDD' fs solid noborder behind\n"
      "set object 3 polygon from 0,0 to 1,0 to 0,1 to 0,0"
      " fc rgb '#888888' fs empty border lc rgb '#AAAAAA'\n" +
      lines_of_equal_loss() + text_at(-0.1, 1.14, "loss of 'lends':", "left " + grey) +
      text_at(0.6, 0.85, "predicts 'lends'", "center tc rgb '#B04A00'") +
      text_at(1.25, 0.30, "predicts 'floods'", "center tc rgb '#0072B2'") +
      text_at(1.03, 0.0, "river", "left " + grey) + text_at(-0.02, 1.05, "money", "left " + grey) +
      text_at(0.46, 0.5, "bank", "right " + grey) +
      text_at(0.03, -0.05, "the, and, a, floods, lends", "left " + grey);
  Array points = zeros({dots.size(), 2});
  std::vector<double> heights;  // heights of the labels
  for (std::size_t i = 0; i < dots.size(); ++i) {
    const double x = dots[i].output(0), y = dots[i].output(1);
    xt::view(points, i) = dots[i].output;
    double height = y;
    for (std::size_t j = 0; j < i; ++j)
      if (std::abs(points(j, 0) - x) < 0.3 && std::abs(heights[j] - height) < 0.06)
        height = heights[j] - 0.06;
    heights.push_back(height);
    const bool is_last = i + 1 == dots.size();
    script += text_at(x + 0.05, height, dots[i].name + ": " + bank_loss_text(dots[i].output),
                      std::string("left front") + (is_last ? " tc rgb '#B00000'" : ""));
    if (i > 0)
      script += "set arrow from " + decimal(points(i - 1, 0), 3) + "," +
                decimal(points(i - 1, 1), 3) + " to " + decimal(x, 3) + "," + decimal(y, 3) +
                " filled size 0.03,20 lw 1.5 lc rgb '#888888' front\n";
  }
  picture_by_gnuplot(lesson, "plane",
                     gnuplot_block("dots", points) + script +
                         "plot x with lines lw 2 lc rgb '#888888',"
                         " $words pt 5 ps 1.1 lc rgb '#555555',"
                         " $dots pt 7 ps 1.4 lc rgb '#555555', $dots every ::" +
                         std::to_string(dots.size() - 1) + " pt 7 ps 1.9 lc rgb '#B00000'");
}

}  // namespace heed
