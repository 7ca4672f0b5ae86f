// pictures.hpp: measures, tables and plots of lesson 12.
#pragma once

#include <cmath>

#include "lesson.hpp"

namespace heed {

// The mean cosine similarity of two different rows of x (T, C).
inline double mean_cosine(const Array& x) {
  double sum = 0;
  const std::size_t T = x.shape(0), C = x.shape(1);
  for (std::size_t i = 0; i < T; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      double product = 0, squares_i = 0, squares_j = 0;
      for (std::size_t c = 0; c < C; ++c) {
        product += x(i, c) * x(j, c);
        squares_i += x(i, c) * x(i, c), squares_j += x(j, c) * x(j, c);
      }
      sum += product / std::sqrt(squares_i * squares_j);
    }
  return sum / double(T * (T - 1) / 2);
}

// The root mean square of the elements of x (T, C).
inline double rms(const Array& x) { return std::sqrt(xt::mean<double>(xt::square(x))()); }

// Prints arrays of numbers after 0, 1, ... layers, with two decimals, one in each line.
inline void show_rows(const std::string& title, const std::vector<Array>& rows,
                      const Names& names) {
  Array table = zeros({rows.size(), rows[0].size()});
  TableOptions options{title, names, {}};
  for (std::size_t r = 0; r < rows.size(); ++r) xt::row(table, int(r)) = rows[r];
  for (std::size_t l = 0; l < rows[0].size(); ++l)
    options.column_names.push_back(std::to_string(l));
  options.decimals = 2;
  show(table, options);
}

// Plots x (T, C) after 0, 1, 2, 3, 4 and 6 layers as heat maps, each row divided by its length.
inline void picture_of_rows(const std::string& name, const std::vector<Array>& after) {
  std::vector<Array> panels;
  Names titles;
  for (const std::size_t l : {0, 1, 2, 3, 4, 6}) {
    Array x = after.at(l);
    for (std::size_t t = 0; t < x.shape(0); ++t)
      xt::row(x, int(t)) /= Real(std::sqrt(xt::sum<double>(xt::square(xt::row(x, int(t))))()));
    panels.push_back(x);
    titles.push_back("after " + std::to_string(l) + (l == 1 ? " layer" : " layers"));
  }
  HeatmapOptions options;
  options.diverging = true, options.low = -0.6, options.high = 0.6;
  options.row_title = "position", options.column_title = "component";
  picture("12_transformer_block", name, panels, titles, options, 3);
}

// A transformer block in Graphviz's language. The thick arrows are the residual stream.
const std::string block_graph = R"dot(digraph {
  rankdir=BT
  ranksep=0.3
  nodesep=0.5
  node [shape=box, style=rounded, fontname="sans-serif"]
  edge [color="#0072B2", arrowsize=0.6, fontname="sans-serif", fontsize=11]
  input [label="x (T, C)", shape=none, group=stream]
  x [shape=point, group=stream]
  add1 [label="+", shape=circle, group=stream]
  add2 [label="+", shape=circle, group=stream]
  output [label="block(x) (T, C)", shape=none, group=stream]
  norm1 [width=1.8, label="layer norm 1", group=branch]
  attention [width=1.8, label="attention", group=branch]
  norm2 [width=1.8, label="layer norm 2", group=branch]
  up [width=1.8, label="MLP: linear, GELU", group=branch]
  down [width=1.8, label="MLP: linear", group=branch]
  input -> x [arrowhead=none, penwidth=3, color="#D55E00", weight=50]
  x -> norm1
  x -> add1 [penwidth=3, color="#D55E00", weight=50, label="  residual   \n  connection   "]
  norm1 -> attention
  attention -> norm2 [style=invis, weight=20]
  attention -> add1 [label="  (T, C)"]
  add1 -> norm2
  add1 -> add2 [penwidth=3, color="#D55E00", weight=50, label="  residual   \n  connection   "]
  norm2 -> up
  up -> down [label="  (T, 4C)"]
  down -> add2 [label="  (T, C)"]
  add2 -> output [penwidth=3, color="#D55E00", weight=50]
}
)dot";

}  // namespace heed
