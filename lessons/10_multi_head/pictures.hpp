// pictures.hpp: the plots and the table of lesson 10.
#pragma once

#include <algorithm>

#include "estimate.hpp"
#include "gnuplot_picture.hpp"

namespace heed {

// One label or rectangle of a diagram, in units of its plane of 100 x 60.
struct Box {
  double x, y, width, height;
  std::string color;
};

inline std::string rectangle(const Box& box) {
  return "set object rect from " + decimal(box.x, 2) + "," + decimal(box.y, 2) + " to " +
         decimal(box.x + box.width, 2) + "," + decimal(box.y + box.height, 2) + " fc rgb '" +
         box.color + "' fs solid border lc rgb '#444444'\n";
}

inline std::string label(const std::string& text, double x, double y) {
  return "set label \"" + text + "\" at " + decimal(x, 2) + "," + decimal(y, 2) + " center\n";
}

inline std::string arrow(double x, double y, double to_x, double to_y,
                         const std::string& color = "#777777") {
  return "set arrow from " + decimal(x, 2) + "," + decimal(y, 2) + " to " + decimal(to_x, 2) + "," +
         decimal(to_y, 2) + " lw 1.4 lc rgb '" + color + "'\n";
}

inline const Names head_colors = {"#0072B2", "#E69F00", "#009E73", "#CC79A7"};

// Draws a matrix (T, C) as four blocks of columns, one for each head.
inline std::string in_four_blocks(double x, double y) {
  std::string text;
  for (std::size_t h = 0; h < 4; ++h)
    text += rectangle({x + 3 * double(h), y, 3, 8, head_colors[h]});
  return text;
}

// Draws the data flow from X through four heads to the output.
inline void picture_of_the_split() {
  std::string text = rectangle({2, 26, 12, 8, "#E4E4E4"}) + label("X (T, C)", 8, 36);
  const Names projected = {"Q = X W_Q", "K = X W_K", "V = X W_V"};
  for (std::size_t i = 0; i < 3; ++i) {
    const double y = 44 - 18 * double(i);
    text += in_four_blocks(22, y) + label(projected[i], 28, y + 10) + arrow(14.5, 30, 21.5, y + 4);
  }
  text += "set arrow from 36,8 to 36,50 nohead lw 1.4 lc rgb '#777777'\n";  // Q, K and V together
  for (std::size_t h = 0; h < 4; ++h) {
    const double y = 45 - 13 * double(h);
    const std::string number = std::to_string(h), color = head_colors[h];
    text += rectangle({46, y, 5, 8, color}) + rectangle({56, y, 3, 8, color}) +
            label("A_" + number + " (T, T)", 48.5, y + 9.6) + label("O_" + number, 57.5, y + 9.6) +
            arrow(36, y + 4, 45.3, y + 4, color) + arrow(51.5, y + 4, 55.5, y + 4, color) +
            arrow(59.5, y + 4, 69.5 + 3 * double(h), h < 2 ? 34.5 : 25.5, color);
  }
  text += in_four_blocks(68, 26) + label("concatenated (T, C)", 84, 18) + arrow(80.5, 30, 86, 30) +
          label("W_O", 83.2, 32) + rectangle({86.5, 26, 12, 8, "#E4E4E4"}) +
          label("O (T, C)", 92.5, 36);
  picture_by_gnuplot("10_multi_head", "heads",
                     "unset border\nunset tics\nunset grid\nset xrange [0:100]\nset yrange [2:60]\n"
                     "set title 'Four heads: the columns are split, and concatenated again'\n" +
                         text + "plot NaN notitle");
}

inline double least(const std::vector<double>& x) { return *std::min_element(x.begin(), x.end()); }
inline double most(const std::vector<double>& x) { return *std::max_element(x.begin(), x.end()); }

// "1 head     2.05 +- 0.01" for each model.
inline void show_losses(const Names& models, const std::vector<std::vector<double>>& losses) {
  std::string table;
  for (std::size_t m = 0; m < models.size(); ++m) {
    const Estimate e = estimate(losses[m]);
    table += pad_right(models[m], 21) + decimal(e.mean, 3) + " +- " + decimal(e.standard_error, 3) +
             "\n";
  }
  quote(table);
}

// Plots the attention weights of one head (T, T) and of two (2, T, T), for the queries 2 to T - 1.
inline void picture_of_weights(const std::vector<Array>& weights) {
  std::vector<Array> panels;
  for (Array A : weights) {  // (T, T) or (H, T, T)
    const std::size_t T = A.shape(A.dimension() - 1);
    A.reshape({A.size() / (T * T), T, T});
    for (std::size_t h = 0; h < A.shape(0); ++h) {
      const Array masked = xt::where(future_mask(T), -INFINITY, xt::view(A, h));
      panels.push_back(xt::view(masked, xt::range(2, T)));
    }
  }
  HeatmapOptions options{"attention weights of the queries 2 to 7"};
  options.row_names = {"2", "3", "4", "5", "6", "7"};
  options.column_names = {"0", "1", "2", "3", "4", "5", "6", "7"};
  options.row_title = "query position", options.column_title = "key position";
  options.low = 0, options.high = 1;
  const Names titles = {"one head", "two heads: head 0", "two heads: head 1"};
  picture("10_multi_head", "weights", panels, titles, options, 3);
}

}  // namespace heed
