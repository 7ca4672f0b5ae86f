// pictures.hpp: the tables and plots of lesson 16.
#pragma once

#include <algorithm>
#include <cmath>

#include "estimate.hpp"
#include "gnuplot_picture.hpp"
#include "head_pictures.hpp"
#include "heed/study/heads.hpp"

namespace heed {

const std::string lesson = "16_looking_inside";

// A head as text: "0.2" is layer 0, head 2.
inline std::string name_of(std::size_t head) {
  return std::to_string(head / 4) + "." + std::to_string(head % 4);
}

// How many of the numbers are above the limit, "4 of 5".
inline std::string count_above(double limit, const std::vector<double>& x) {
  const auto n = std::count_if(x.begin(), x.end(), [&](double v) { return v > limit; });
  return std::to_string(n) + " of " + std::to_string(x.size());
}

inline std::vector<double> differences(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result;
  for (std::size_t i = 0; i < a.size(); ++i) result.push_back(a[i] - b[i]);
  return result;
}

inline Array array_of(const std::vector<double>& costs) {  // (layers, heads)
  Array x = zeros({costs.size() / 4, 4});
  std::copy(costs.begin(), costs.end(), x.begin());
  return x;
}

inline void picture_of_head(const Array& weights, std::size_t head, const Names& letters) {
  HeatmapOptions options{"attention weights", letters, letters, "query position", "key position"};
  options.low = 0, options.high = 1;
  picture_trained(lesson, "head", masked_weights(weights, head), options);
}

inline void picture_of_layer_1(const Array& weights, const Names& letters) {
  std::vector<Array> panels;
  Names titles;
  for (std::size_t h = 0; h < 4; ++h) {
    panels.push_back(masked_weights(weights, h));
    titles.push_back("head 1." + std::to_string(h));
  }
  HeatmapOptions options{"", letters, letters, "query position", "key position"};
  options.low = 0, options.high = 1;
  picture(lesson, "layer_1", panels, titles, options, 2);
}

// A table with a row for each seed: the head with the highest score for both patterns, and the
// score.
inline std::string table_of_patterns(const std::vector<std::size_t>& previous,
                                     const std::vector<double>& of_previous,
                                     const std::vector<std::size_t>& same,
                                     const std::vector<double>& of_same,
                                     const std::vector<double>& uniform) {
  std::string rows =
      "                previous token       same token\n"
      "                head   score        head   score";
  for (std::size_t m = 0; m < previous.size(); ++m)
    rows += "\nseed " + std::to_string(m + 1) + pad_left(name_of(previous[m]), 14) +
            pad_left(decimal(of_previous[m], 2), 8) + pad_left(name_of(same[m]), 12) +
            pad_left(decimal(of_same[m], 2), 8);
  return rows + "\nequal weights" + pad_left(decimal(uniform[0], 2), 15) +
         pad_left(decimal(uniform[1], 2), 20);
}

// A table of weights on spaces: a row for each seed, then a row for uniform attention weights.
inline std::string table_of_spaces(const std::vector<std::size_t>& heads,
                                   const std::vector<std::vector<double>>& rows) {
  std::string text =
      "                      same token, if the query is    a space, if the\n"
      "                head  a space      another token     query is none";
  for (std::size_t m = 0; m < rows.size(); ++m)
    text += "\n" +
            pad_right(m < heads.size() ? "seed " + std::to_string(m + 1) : "equal weights", 16) +
            pad_left(m < heads.size() ? name_of(heads[m]) : "", 4) +
            pad_left(decimal(rows[m][0], 2), 9) + pad_left(decimal(rows[m][1], 2), 15) +
            pad_left(decimal(rows[m][2], 2), 19);
  return text;
}

// How much the loss increases without each of the 8 heads, and the two chosen heads.
struct HeadCosts {
  std::size_t previous, same;
  std::vector<double> zero = {}, mean = {};

  std::size_t costliest() const {
    return std::size_t(std::max_element(zero.begin(), zero.end()) - zero.begin());
  }
};

// In how many models no head costs more than the previous token head, by more than 0.005.
inline std::string count_of_costliest(const std::vector<HeadCosts>& rows) {
  const auto n = std::count_if(rows.begin(), rows.end(), [](const HeadCosts& r) {
    return r.zero[r.costliest()] - r.zero[r.previous] < 0.005;
  });
  return std::to_string(n) + " of " + std::to_string(rows.size());
}

// "~0.00 to ~0.04": the increases of the loss without these heads.
inline std::string range_of(const std::vector<HeadCosts>& rows, std::size_t HeadCosts::*head) {
  std::vector<double> costs;
  for (const HeadCosts& r : rows) costs.push_back(r.zero[r.*head]);
  const auto [least, most] = std::minmax_element(costs.begin(), costs.end());
  return trained(*least) + " to " + trained(*most);
}

inline std::string table_of_heads(const std::vector<HeadCosts>& rows) {
  std::string text =
      "          previous head        same token head      costliest\n"
      "          head   zero   mean   head   zero   mean   head   zero";
  for (std::size_t m = 0; m < rows.size(); ++m) {
    const HeadCosts& r = rows[m];
    const auto cells = [&](std::size_t head, bool with_mean) {
      return pad_left(name_of(head), 7) + pad_left(decimal(r.zero[head], 3), 7) +
             (with_mean ? pad_left(decimal(r.mean[head], 3), 7) : "");
    };
    text += "\nseed " + std::to_string(m + 1) + " " + cells(r.previous, true) +
            cells(r.same, true) + cells(r.costliest(), false);
  }
  return text;
}

// How much the loss increases without one layer's attention, for each seed.
struct LayerCosts {
  std::vector<double> sum, all, never;
};

inline std::string table_of_layers(const std::vector<LayerCosts>& layers) {
  std::string text = "            layer 0: sum    all    never     layer 1: sum    all    never";
  const auto cell = [](double x, int width) { return pad_left(decimal(x, 3), std::size_t(width)); };
  for (std::size_t m = 0; m < layers[0].sum.size(); ++m) {
    text += "\nseed " + std::to_string(m + 1) + "  ";
    for (const LayerCosts& l : layers)
      text += cell(l.sum[m], 16) + cell(l.all[m], 7) + cell(l.never[m], 9);
  }
  for (const bool is_mean : {true, false}) {
    text += is_mean ? "\nmean    " : "\nst.error";
    for (const LayerCosts& l : layers)
      for (const auto& [x, width] : {std::pair(&l.sum, 16), {&l.all, 7}, {&l.never, 9}})
        text += cell(is_mean ? estimate(*x).mean : estimate(*x).standard_error, width);
  }
  return text;
}

// Plots each column of the table: a ring for each seed, and the mean.
inline void picture_of_layers(const std::vector<LayerCosts>& layers) {
  Array points = zeros({30, 2}), means = zeros({6, 3});
  std::string tics;
  for (std::size_t i = 0; i < 6; ++i) {
    const LayerCosts& l = layers[i / 3];
    const std::vector<double>& x = i % 3 == 0 ? l.sum : i % 3 == 1 ? l.all : l.never;
    const Real y = Real(i < 3 ? 6 - i : 5 - i);
    for (std::size_t m = 0; m < 5; ++m) xt::row(points, int(5 * i + m)) = Array{Real(x[m]), y};
    xt::row(means, int(i)) = Array{Real(estimate(x).mean), y, Real(estimate(x).standard_error)};
    const char* names[] = {"sum of its four heads", "all of it ablated", "never there"};
    tics += std::string(i > 0 ? ", '" : "'") + "layer " + std::to_string(i / 3) + ": " +
            names[i % 3] + "' " + decimal(y, 0);
  }
  picture_by_gnuplot(
      lesson, "layers",
      gnuplot_block("points", points) + gnuplot_block("means", means) +
          "unset key\nset lmargin 30\nset xrange [-0.1:1.3]\nset yrange [-0.6:6.6]\nset ytics (" +
          tics +
          ")\nset arrow from 0, graph 0 to 0, graph 1 nohead dt 2 lw 2 lc rgb '#666666'\n"
          "set xlabel 'increase of the loss (nats per character): five seeds, their mean and "
          "standard error'\n"
          "plot $means using 1:2:3 with xerrorbars pt 7 ps 0.7 lw 2 lc rgb '#0072B2', "
          "$points with points pt 6 ps 1.5 lw 1.5 lc rgb '#D55E00'");
}

}  // namespace heed
