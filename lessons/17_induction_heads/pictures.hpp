// pictures.hpp: the scores, tables and plots of lesson 17.
#pragma once

#include <algorithm>
#include <cmath>

#include "estimate.hpp"
#include "gnuplot_picture.hpp"
#include "head_pictures.hpp"
#include "heed/study/heads.hpp"

namespace heed {

// The prefix-matching score: the attention weight on the tokens that followed earlier occurrences
// of the query's token, averaged over the heads of weights (B, H, T, T).
inline double prefix_score(const Array& weights, const Indices& tokens) {
  return xt::mean(head_scores(induction_kind(), weights, tokens, true))();
}

// The weight on the previous token. `weights` are those of one head.
inline double previous_score(const Array& weights, const Indices& tokens) {
  return head_scores(head_kinds()[0], weights, tokens, true)(0);
}

// A token that occurs for the first time is one of those that have not occurred, all of which are
// equally likely: the mean of ln(their number) bounds the loss from below.
inline double first_bound(std::size_t V, const Indices& periods) {
  double sum = 0, count = 0;
  for (const std::int64_t P : periods)
    for (std::int64_t t = 0; t + 1 < P; ++t) sum += std::log(double(V) - double(t + 1)), ++count;
  return sum / count;
}

// Claims that the mean of the differences of five seeds is above 0 by more than 2.8 standard
// errors.
inline void claim_difference(const std::string& what, const std::vector<double>& differences,
                             SourceLocation location = SourceLocation::current()) {
  const Estimate e = estimate(differences);
  claim(what + ", by 2.8 standard errors", e.mean > 2.8 * e.standard_error,
        decimal(e.mean, 4) + " +- " + decimal(e.standard_error, 4), location);
}

// The fractions of rows whose largest logit, and whose smallest one, is that of the row's own
// token.
inline std::vector<double> copying_scores(const Array& logits) {  // (V, V)
  double largest = 0, smallest = 0;
  for (std::size_t i = 0; i < logits.shape(0); ++i) {
    const Array row = xt::row(logits, int(i));
    largest += row(i) == xt::amax(row)(), smallest += row(i) == xt::amin(row)();
  }
  return {largest / double(logits.shape(0)), smallest / double(logits.shape(0))};
}

// Formats a row for each seed: numbers with two decimals, in columns of these widths.
inline std::string rows_of_seeds(const std::string& header,
                                 const std::vector<std::vector<double>>& rows,
                                 const std::vector<std::size_t>& widths) {
  std::string text = header;
  for (std::size_t m = 0; m < rows.size(); ++m) {
    text += "\nseed " + std::to_string(m + 1) + "  ";
    for (std::size_t c = 0; c < widths.size(); ++c)
      text += pad_left(decimal(rows[m][c], 2), widths[c]);
  }
  return text;
}

// The results of training for one seed: the loss and the scores of two layers and the loss of one
// layer over the steps, and the losses on new sequences.
struct Curve {
  Series loss, previous, prefix, one_layer;
  double two_loss, one_loss;
};

// The first step at which a score has made half of its way from the first to the last value.
inline double step_of_half(const Series& score) {
  std::size_t i = 0;
  while (score.y[i] < (score.y.front() + score.y.back()) / 2) ++i;
  return score.x[i];
}

// The first step with a loss below 1, as text.
inline std::string step_below_1(const Series& loss) {
  for (std::size_t i = 0; i < loss.y.size(); ++i)
    if (loss.y[i] < 1) return decimal(loss.x[i], 0);
  return "-";
}

inline std::string table_of_curves(const std::vector<Curve>& curves) {
  std::string rows =
      "        loss of       loss of      first step of two layers with\n"
      "        two layers    one layer    half the rise of          loss\n"
      "                                   prev. token   prefix-m.   below 1";
  for (std::size_t m = 0; m < curves.size(); ++m) {
    const Curve& c = curves[m];
    rows += "\nseed " + std::to_string(m + 1) + pad_left(decimal(c.two_loss, 2), 9) +
            pad_left(decimal(c.one_loss, 2), 13) +
            pad_left(decimal(step_of_half(c.previous), 0), 14) +
            pad_left(decimal(step_of_half(c.prefix), 0), 12) + pad_left(step_below_1(c.loss), 12);
  }
  return rows;
}

inline Array points_of(const Series& series) {
  Array points = zeros({series.x.size(), 2});
  for (std::size_t i = 0; i < series.x.size(); ++i)
    points(i, 0) = Real(series.x[i]), points(i, 1) = Real(series.y[i]);
  return points;
}

// Plots the losses on repeated tokens and the prefix-matching scores of all seeds.
inline void picture_of_curves(const std::vector<Curve>& curves) {
  std::string data, plots;
  for (std::size_t m = 0; m < curves.size(); ++m) {
    const std::string i = std::to_string(m);
    const auto add = [&](const std::string& name, const Series& series, const std::string& colour,
                         const std::string& axes, const std::string& label) {
      data += gnuplot_block(name + i, points_of(series));
      plots += "$" + name + i + axes + " with lines lw 2 lc rgb '" + colour + "' " +
               (m == 0 ? "title '" + label + "'" : "notitle") + ", ";
    };
    add("two", curves[m].loss, "#0072B2", "", "loss, two layers");
    add("one", curves[m].one_layer, "#D55E00", "", "loss, one layer");
    add("previous", curves[m].previous, "#CC79A7", " axes x1y2", "previous token score of layer 0");
    add("prefix", curves[m].prefix, "#009E73", " axes x1y2", "prefix-matching score of layer 1");
  }
  picture_by_gnuplot("17_induction_heads", "phase_change",
                     data +
                         "set xlabel 'step'\nset ylabel 'loss on repeated tokens (nats)'\n"
                         "set yrange [0:4]\nset y2label 'scores of two layers'\n"
                         "set y2range [0:1]\nset y2tics out\nset border 11 lc rgb '#888888'\n"
                         "set key below maxrows 3\nplot " +
                         plots +
                         "log(32) dashtype 2 lw 2 lc rgb '#666666' title 'ln 32: equal "
                         "probabilities'");
}

inline std::string table_of_scores(const std::vector<std::vector<double>>& rows,
                                   const Indices& tokens) {
  return rows_of_seeds(
             "               head of layer 0:   head of layer 1:\n"
             "               previous token     prefix-matching",
             rows, {11, 19}) +
         "\nequal weights" + pad_left(decimal(uniform_score(head_kinds()[0], tokens, true), 2), 6) +
         pad_left(decimal(uniform_score(induction_kind(), tokens, true), 2), 19);
}

// Plots the attention weights of both heads of the first model for eight tokens, three times.
inline void picture_of_weights(const Array& layer_0, const Array& layer_1) {
  constexpr std::size_t N = 24;
  Names letters;
  for (std::size_t t = 0; t < N; ++t) letters.push_back(std::string(1, char('A' + t % 8)));
  const auto part = [](const Array& weights) {
    return Array(xt::view(masked_weights(weights, 0), xt::range(0, N), xt::range(0, N)));
  };
  HeatmapOptions options{"", letters, letters, "query position", "key position"};
  options.low = 0, options.high = 1;
  picture("17_induction_heads", "weights", {part(layer_0), part(layer_1)},
          {"layer 0: the previous token", "layer 1: the token after the earlier one"}, options, 2);
}

inline double mean_column(const std::vector<std::vector<double>>& rows, std::size_t column) {
  double sum = 0;
  for (const std::vector<double>& row : rows) sum += row[column];
  return sum / double(rows.size());
}

inline std::string table_of_reads(const std::vector<std::vector<double>>& scores,
                                  const std::vector<std::vector<double>>& losses) {
  std::vector<std::vector<double>> rows = scores;
  for (std::size_t m = 0; m < rows.size(); ++m)
    rows[m].insert(rows[m].end(), losses[m].begin(), losses[m].end());
  return rows_of_seeds(
      "        prefix-matching score if layer 0    loss if layer 0\n"
      "        does not reach layer 1's            does not reach layer 1's\n"
      "       (none)  queries  keys   values       (none)  queries  keys   values",
      rows, {5, 9, 6, 9, 13, 9, 6, 9});
}

inline std::string table_of_keys(const std::vector<std::vector<double>>& rows) {
  return rows_of_seeds(
      "        nothing   layer 1, without keys      layer 0, without key\n"
      "        hidden    t - P + 1 ...   t - P ...  t - 1      t - 2",
      rows, {6, 17, 12, 11, 11});
}

inline std::string table_of_copying(const std::vector<std::vector<double>>& rows) {
  return rows_of_seeds(
      "        layer 0: the token's own logit is    layer 1: it is\n"
      "                 the largest  the smallest   the largest  the smallest",
      rows, {14, 14, 14, 14});
}

inline void picture_of_logits(const Array& layer_0, const Array& layer_1) {
  HeatmapOptions options;
  options.diverging = true;
  options.row_title = "token of the key", options.column_title = "logit of the token";
  picture("17_induction_heads", "written", {layer_0, layer_1}, {"layer 0 writes", "layer 1 writes"},
          options, 2);
}

// The path from the token before the key to the prediction, in Graphviz's language.
const std::string path_graph = R"dot(digraph {
  rankdir=BT
  ranksep=0.45
  nodesep=0.6
  node [shape=box, style=rounded, fontname="sans-serif"]
  edge [color="#888888", arrowsize=0.7, fontname="sans-serif", fontsize=11]
  a [label="A\nposition s - 1", shape=none]
  b [label="B\nposition s", shape=none]
  q [label="A\nposition t", shape=none]
  dots [label=". . .", shape=none]
  {rank=same; a -> b -> dots -> q [style=invis]}
  previous [label="layer 0, at s: the head attends to s - 1\nand writes 'A is before me'",
    color="#D55E00", penwidth=2]
  key [label="key of s\n'A is before me'"]
  value [label="value of s\n'I am B'"]
  query [label="query of t\n'I am A'"]
  induction [label="layer 1, at t: query and key match,\nthe head attends to s and writes 'B'",
    color="#0072B2", penwidth=2]
  next [label="logits at t: B", shape=none]
  a -> previous [color="#D55E00", penwidth=2]
  b -> previous [style=dotted]
  b -> key [color="#BBBBBB"]
  previous -> key [color="#D55E00", penwidth=2, label="  K-composition"]
  b -> value
  q -> query
  key -> induction [color="#D55E00", penwidth=2]
  value -> induction [color="#0072B2", penwidth=2]
  query -> induction
  induction -> next [color="#0072B2", penwidth=2]
}
)dot";

}  // namespace heed
