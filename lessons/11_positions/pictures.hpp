// pictures.hpp: the plots and the tables of lesson 11.
#pragma once

#include <algorithm>
#include <cmath>

#include "estimate.hpp"
#include "gnuplot_picture.hpp"

namespace heed {

// The losses of a model's seeds, for each column of a table.
struct LossRow {
  std::string name;
  std::vector<std::vector<double>> losses;
};

// The least and the largest loss of a column.
inline double least(const LossRow& row, std::size_t column) {
  return *std::min_element(row.losses[column].begin(), row.losses[column].end());
}
inline double most(const LossRow& row, std::size_t column) {
  return *std::max_element(row.losses[column].begin(), row.losses[column].end());
}

// Prints a row for each model: the means of its losses +- their standard errors.
inline void show_losses(const Names& columns, const std::vector<LossRow>& rows) {
  std::string text(26, ' ');
  for (const std::string& column : columns) text += pad_left(column, 18);
  for (const LossRow& row : rows) {
    text += "\n" + pad_right(row.name, 26);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const Estimate e = estimate(row.losses[c]);
      text += pad_left(decimal(e.mean, 3) + " +- " + decimal(e.standard_error, 3), 18);
    }
  }
  quote(text);
}

// "  0.402  0.031  0.130", below the last column of a table.
inline std::string each_seed(const std::vector<double>& losses) {
  std::string text(26, ' ');
  for (const double loss : losses) text += "  " + decimal(loss, 3);
  return text;
}

// The lowest attention weight of a query t for the key 7 - t, in weights of shape (1, 1, 8, 8).
inline double lowest_on_diagonal(const std::vector<Array>& weights) {
  double lowest = 1;
  for (const Array& A : weights)
    for (std::size_t t = 0; t < 8; ++t) lowest = std::min(lowest, double(A(0, 0, t, 7 - t)));
  return lowest;
}

// Plots the sines and cosines of the encodings P (T, C), side by side.
inline void picture_of_waves(const Array& P) {
  HeatmapOptions options{"sinusoidal position encodings: each column is a wave"};
  options.row_title = "position t", options.column_title = "pair of columns i";
  options.low = -1, options.high = 1, options.diverging = true;
  const std::size_t C = P.shape(1);
  const Array sines = xt::view(P, xt::all(), xt::range(0, C, 2)),
              cosines = xt::view(P, xt::all(), xt::range(1, C, 2));  // (T, C / 2) each
  picture("11_positions", "waves", {sines, cosines}, {"sin(t theta_i)", "cos(t theta_i)"}, options,
          2);
}

// Plots the attention weights (1, 1, 8, 8) of the models without positions, with learned and with
// sinusoidal encodings.
inline void picture_of_attention(std::vector<Array> weights) {
  for (Array& A : weights) A.reshape({8, 8});
  const Names letters = {"t", "r", "i", "a", "n", "g", "l", "e"};
  HeatmapOptions options{"attention weights for 'triangle'", letters, letters};
  options.row_title = "query position", options.column_title = "key position";
  options.low = 0, options.high = 1;
  const Names titles = {"no positions", "learned", "sinusoidal"};
  picture("11_positions", "attention", weights, titles, options, 3);
}

// Plots a query and a key at two pairs of positions with the same difference.
inline void picture_of_rotations() {
  const double theta = 0.5, q = 0.2, k = 0.5;  // angles: of one position; of query and key
  std::string script =
      "unset border\nunset tics\nunset grid\nset size ratio -1\nset key off\n"
      "set xrange [-1.5:4.5]\nset yrange [-1.1:1.9]\nset samples 200\n"
      "set title 'Both pairs are two positions apart: the angle between them is the same'\n";
  const auto arrow = [&](double x, double angle, const std::string& style,
                         const std::string& text) {
    const double to_x = std::cos(angle), to_y = std::sin(angle);
    script += "set arrow from " + decimal(x, 2) + ",0 to " + decimal(x + to_x, 4) + "," +
              decimal(to_y, 4) + " " + style + "\nset label \"" + text + "\" at " +
              decimal(x + 1.14 * to_x, 4) + "," + decimal(1.14 * to_y, 4) + " center\n";
  };
  int panel = 0;
  for (const int t : {3, 5}) {  // the query's position; the key is two positions before
    const double x = 3.2 * panel++;
    const std::string query = std::to_string(t), key = std::to_string(t - 2);
    script += "set object circle at " + decimal(x, 2) + ",0 size 1 fc rgb '#DDDDDD'\n";
    arrow(x, q, "lw 1.2 dt 2 lc rgb '#0072B2'", "q");
    arrow(x, k, "lw 1.2 dt 2 lc rgb '#D55E00'", "k");
    arrow(x, q + t * theta, "lw 2.5 lc rgb '#0072B2'", "q at " + query);
    arrow(x, k + (t - 2) * theta, "lw 2.5 lc rgb '#D55E00'", "k at " + key);
    script += "set label 'query position " + query + ", key position " + key + "' at " +
              decimal(x, 2) + ",1.55 center\n";
  }
  picture_by_gnuplot("11_positions", "rotary", script + "plot NaN");
}

}  // namespace heed
