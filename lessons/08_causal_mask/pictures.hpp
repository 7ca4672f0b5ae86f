// pictures.hpp: plots attention weights and the paths through causal layers, and formats means, for
// lesson 08.
#pragma once

#include <algorithm>

#include "estimate.hpp"
#include "gnuplot_picture.hpp"

namespace heed {

// A row of a table, with the measurements of each column.
struct MeanRow {
  std::string name;
  std::vector<std::vector<double>> columns;
};

// The means with their standard errors: "0.05 +- 0.01".
inline std::string mean_table(const Names& columns, const std::vector<MeanRow>& rows) {
  std::string text(22, ' ');
  for (const std::string& column : columns) text += pad_left(column, 16);
  for (const MeanRow& row : rows) {
    text += '\n' + pad_right(row.name, 22);
    for (const std::vector<double>& losses : row.columns) {
      const Estimate e = estimate(losses);
      text += pad_left(decimal(e.mean, 2) + " +- " + decimal(e.standard_error, 2), 16);
    }
  }
  return text;
}

// The text with "/" for each line break.
inline std::string in_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', '/');
  return text;
}

// Plots attention weights (1, T, T) of a text of T characters.
inline void draw_leak(Array weights, const std::string& text) {
  Names letters;
  for (const char letter : in_one_line(text))
    letters.push_back(letter == ' ' ? "\u2423" : std::string(1, letter));
  picture_trained("08_causal_mask", "leak", weights.reshape({text.size(), text.size()}),
                  {"Without a mask, each query attends to the next character", letters, letters,
                   "query position", "key position", 0, 1});
}

// Draws a column of positions before and after each layer, and an arrow from s to t where the query
// at t may attend to the key at s: orange if s is later. The path through the given positions is
// thick. `counts` has the number of paths from the first position of this path to each output.
inline void draw_layers(const std::vector<Array>& masks, const std::vector<std::size_t>& path,
                        const Names& words, const Array& counts) {
  std::string arrows, labels;
  for (std::size_t layer = 0; layer <= masks.size(); ++layer) {
    const std::string x = std::to_string(layer);
    labels += "set label '" + (layer == 0 ? "input" : "layer " + x) + "' at " + x + ",0.5 center\n";
    for (std::size_t t = 0; t < words.size(); ++t)
      labels += "set label '" + words[t] + "' at " + x + ",-" + std::to_string(t) +
                " center front font ',16'\n";
  }
  labels += "set label \"paths from\\n'" + words[path[0]] + "'\" at 4.7,0.5 center\n";
  for (std::size_t t = 0; t < words.size(); ++t)
    labels += "set label '" + decimal(counts(t), 0) + "' at 4.7,-" + std::to_string(t) +
              " center font ',16'\n";
  for (std::size_t layer = 0; layer < masks.size(); ++layer)
    for (std::size_t t = 0; t < words.size(); ++t)
      for (std::size_t s = 0; s < words.size(); ++s) {
        if (masks[layer](t, s) == 0) continue;
        const double slope = double(s) - double(t);
        const bool thick = path[layer] == s && path[layer + 1] == t;
        arrows += "set arrow from " + decimal(double(layer) + 0.16, 2) + "," +
                  decimal(-double(s) + 0.16 * slope, 2) + " to " +
                  decimal(double(layer) + 0.84, 2) + "," + decimal(-double(s) + 0.84 * slope, 2) +
                  " lw " + (thick ? "5" : "1.5") + " lc rgb '" + (s > t ? "#D55E00" : "#0072B2") +
                  "'\n";
      }
  picture_by_gnuplot(
      "08_causal_mask", "paths",
      "set title 'One wrong mask, in layer 3: a path leads from \"cat\" to the earlier"
      " \"the\"' font ',17'\nunset border\nunset tics\nunset key\nunset grid\n"
      "set xrange [-0.3:5]\nset yrange [-2.3:0.8]\n" +
          labels + arrows + "plot -10");
}

}  // namespace heed
