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
  HeatmapOptions options{"head " + name_of(head) + ", first model: attention weights", letters,
                         letters, "query position", "key position"};
  options.low = 0, options.high = 1;
  picture_trained(lesson, "head", masked_weights(weights, head % 4), options);
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
      "                previous token       same token, candidate\n"
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

// How much the loss increases without each of the 8 heads, their largest weights, and the two
// chosen heads.
struct HeadCosts {
  std::size_t previous, same;
  std::vector<double> zero, mean, largest_weights;

  std::size_t costliest() const {
    return std::size_t(std::max_element(zero.begin(), zero.end()) - zero.begin());
  }
};

// The largest difference between zero ablation and mean ablation.
inline double largest_difference(const std::vector<HeadCosts>& rows) {
  double most = 0;
  for (const HeadCosts& r : rows)
    for (std::size_t h = 0; h < r.zero.size(); ++h)
      most = std::max(most, std::abs(r.zero[h] - r.mean[h]));
  return most;
}

inline std::string table_of_heads(const std::vector<HeadCosts>& rows) {
  std::string text =
      "        previous head   same token, candidate   costliest\n"
      "        head    cost    head    cost            head    cost";
  for (std::size_t m = 0; m < rows.size(); ++m) {
    const HeadCosts& r = rows[m];
    const auto cells = [&](std::size_t head, std::size_t width) {
      return pad_right(name_of(head) + "  " + pad_left(decimal(r.zero[head], 3), 7), width);
    };
    text += "\nseed " + std::to_string(m + 1) + "  " + cells(r.previous, 16) + cells(r.same, 24) +
            cells(r.costliest(), 0);
  }
  return text;
}

// The rank correlation of the heads of one layer: 1 if the two orders are the same, 0 on average if
// they are random (Spearman).
inline double rank_correlation(const std::vector<double>& x, const std::vector<double>& y,
                               std::size_t layer) {
  const auto rank = [&](const std::vector<double>& z, std::size_t h) {
    return double(std::count_if(z.begin() + std::ptrdiff_t(4 * layer),
                                z.begin() + std::ptrdiff_t(4 * layer + 4),
                                [&](double other) { return other < z[4 * layer + h]; }));
  };
  double squares = 0;
  for (std::size_t h = 0; h < 4; ++h) squares += std::pow(rank(x, h) - rank(y, h), 2);
  return 1 - 6 * squares / 60;  // 60 = n (n n - 1) for n = 4
}

// For each layer: the mean of the largest weights, the smallest and the largest cost, and the rank
// correlation of both, mean of the models and standard error.
inline std::string table_of_weights(const std::vector<HeadCosts>& rows) {
  std::string text = "         largest weight   costs             rank correlation of both";
  for (const std::size_t layer : {0u, 1u}) {
    std::vector<double> weights, of_cost, correlations;
    for (const HeadCosts& r : rows) {
      for (std::size_t h = 4 * layer; h < 4 * layer + 4; ++h)
        weights.push_back(r.largest_weights[h]), of_cost.push_back(r.zero[h]);
      correlations.push_back(rank_correlation(r.largest_weights, r.zero, layer));
    }
    const auto [least, most] = std::minmax_element(of_cost.begin(), of_cost.end());
    const Estimate e = estimate(correlations);
    text += "\nlayer " + std::to_string(layer) + "  " +
            pad_right(decimal(estimate(weights).mean, 2), 17) +
            pad_right(decimal(*least, 3) + " to " + decimal(*most, 3), 18) + decimal(e.mean, 2) +
            " +- " + decimal(e.standard_error, 2);
  }
  return text;
}

// Plots the cost of each head of each model against its largest weight.
inline void picture_of_costs(const std::vector<HeadCosts>& rows) {
  std::string data;
  for (const std::size_t layer : {0u, 1u}) {
    Array points = zeros({4 * rows.size(), 2});
    for (std::size_t i = 0; i < points.shape(0); ++i) {
      const std::size_t head = 4 * layer + i % 4;
      points(i, 0) = Real(rows[i / 4].largest_weights[head]);
      points(i, 1) = Real(rows[i / 4].zero[head]);
    }
    data += gnuplot_block("layer" + std::to_string(layer), points);
  }
  picture_by_gnuplot(
      lesson, "costs",
      data +
          "set xrange [0.2:0.9]\nset yrange [-0.02:]\nset key left top\n"
          "set xlabel 'largest attention weight of a query, mean of the queries'\n"
          "set ylabel 'increase of the loss without the head (nats)'\n"
          "plot $layer0 with points pt 7 ps 1.3 lc rgb '#D55E00' title 'heads of layer 0, five "
          "models', $layer1 with points pt 6 ps 1.5 lw 2 lc rgb '#0072B2' title 'heads of layer "
          "1'");
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

}  // namespace heed
