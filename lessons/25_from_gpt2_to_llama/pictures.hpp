// pictures.hpp: times, tables and plots of lesson 25.
#pragma once

#include <algorithm>
#include <ctime>
#include <functional>

#include "estimate.hpp"
#include "gnuplot_picture.hpp"

namespace heed {

// The processor time of f(i), divided by that of f(0): medians of 7 rounds, in which they take
// turns, so that other programs slow all of them down.
inline std::vector<double> time_ratios(std::size_t n, const std::function<void(std::size_t)>& f) {
  constexpr std::size_t rounds = 7;
  std::vector<std::vector<double>> times(n);
  for (std::size_t round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < n; ++i) {
      const std::clock_t start = std::clock();
      f(i);
      times[i].push_back(double(std::clock() - start));
    }
  std::vector<double> ratios;
  for (std::vector<double>& t : times) {
    std::sort(t.begin(), t.end());
    ratios.push_back(t[rounds / 2] / times[0][rounds / 2]);
  }
  return ratios;
}

// Claims that the losses fall from one model to another: the mean of the differences of the seeds.
inline void claim_fall(const std::string& what, const std::vector<double>& from,
                       const std::vector<double>& to,
                       SourceLocation location = SourceLocation::current()) {
  std::vector<double> falls;
  for (std::size_t i = 0; i < from.size(); ++i) falls.push_back(from[i] - to[i]);
  const Estimate e = estimate(falls);
  claim(what + ", by more than 2.8 standard errors", e.mean > 2.8 * e.standard_error,
        decimal(e.mean, 4) + " +- " + decimal(e.standard_error, 4), location);
}

// Plots rotated queries and keys, and their dot products: rows (5, 5).
inline void show_rotations(const Array& rows, const Names& names) {
  TableOptions options{
      "q = (1, 0) at t and k = (1, 1) at s", names, {"R_t q", "", "R_s k", "", "dot product"}};
  options.decimals = 3;
  show(rows, options);
}

// Prints how many numbers a KV cache stores per token, for 4, 2 and 1 heads of keys and values.
inline void show_cache(const std::vector<std::size_t>& numbers) {
  print_text("\nH_kv                 4    2    1\nnumbers per token  " +
                 std::to_string(numbers[0]) + pad_left(std::to_string(numbers[1]), 5) +
                 pad_left(std::to_string(numbers[2]), 5) + "\n",
             true, SourceLocation::current());
}

inline void picture_of_scores(const Array& added, const Array& rotated) {
  HeatmapOptions options;
  options.row_title = "query position t", options.column_title = "key position s";
  picture("25_from_gpt2_to_llama", "scores", {added, rotated}, {"random vectors added", "rotated"},
          options, 2);
}

// A row of the table: a model and its losses, one for each seed.
struct Row {
  std::string name;
  std::size_t parameters;
  double time;
  std::int64_t steps;
  std::vector<double> losses;
};

inline std::vector<double> changes(const Row& from, const Row& to) {
  std::vector<double> result;
  for (std::size_t i = 0; i < to.losses.size(); ++i)
    result.push_back(to.losses[i] - from.losses[i]);
  return result;
}

inline std::string with_error(const std::vector<double>& x, std::size_t width) {
  const Estimate e = estimate(x);
  return pad_left(decimal(e.mean, 3), width) + " +- " + decimal(e.standard_error, 3);
}

inline std::string table_of_rows(const std::vector<Row>& rows) {
  std::string text = "                    parameters  time  steps  loss";
  for (const Row& row : rows)
    text += "\n" + pad_right(row.name, 20) + pad_left(grouped(double(row.parameters)), 10) +
            pad_left(decimal(row.time, 2), 6) + pad_left(std::to_string(row.steps), 7) +
            with_error(row.losses, 7);
  return text;
}

// The five changes of the loss, each from the row above: five seeds, their mean and standard error.
inline std::string table_of_changes(const std::vector<Row>& rows) {
  std::string text = "\nchange, seed          1       2       3       4       5   mean";
  for (std::size_t i = 1; i <= 5; ++i) {
    text += "\n" + pad_right(rows[i].name, 17);
    for (const double change : changes(rows[i - 1], rows[i]))
      text += pad_left(decimal(change, 3), 8);
    text += with_error(changes(rows[i - 1], rows[i]), 9);
  }
  return text;
}

// Plots a line for each of the five changes: the differences of the seeds and their mean.
inline void picture_of_changes(const std::vector<Row>& rows) {
  Array points = zeros({20, 2}), first = zeros({5, 2}), means = zeros({5, 3});
  std::string tics;
  for (std::size_t i = 0; i < 5; ++i) {
    const std::vector<double> x = changes(rows[i], rows[i + 1]);
    const Real y = Real(4 - i);
    xt::row(first, int(i)) = Array{Real(x[0]), y};
    for (std::size_t m = 1; m < 5; ++m) xt::row(points, int(4 * i + m - 1)) = Array{Real(x[m]), y};
    xt::row(means, int(i)) = Array{Real(estimate(x).mean), y, Real(estimate(x).standard_error)};
    tics += (i > 0 ? ", '" : "'") + rows[i + 1].name + "' " + decimal(y, 0);
  }
  picture_by_gnuplot(
      "25_from_gpt2_to_llama", "changes",
      gnuplot_block("points", points) + gnuplot_block("first", first) +
          gnuplot_block("means", means) +
          "set key outside top center horizontal\nset lmargin 24\nset yrange [-0.6:4.6]\nset "
          "xrange [-0.32:0.15]\nset ytics (" +
          tics +
          ")\nset arrow from 0, graph 0 to 0, graph 1 nohead dt 2 lw 2 lc rgb '#666666'\n"
          "set xlabel 'change of the loss (nats per character)'\n"
          "plot $means using 1:2:3 with xerrorbars pt 7 ps 0.7 lw 2 lc rgb '#0072B2' title "
          "'mean and standard error', $points with points pt 6 ps 1.5 lw 1.5 lc rgb '#D55E00' "
          "title 'seeds 2 to 5', $first with points pt 2 ps 1.2 lw 2 lc rgb '#D55E00' title "
          "'seed 1'");
}

// Both blocks in Graphviz's language. What changes has a colour; the thick arrows are the residual
// stream.
inline std::string block_graph(const std::string& id, const std::string& title, const Names& labels,
                               const std::string& colour) {
  const auto node = [&](const std::string& name, const std::string& label,
                        const std::string& group) {
    return id + name + " [label=\"" + label + "\", group=" + id + group +
           (group == "b" ? ", color=\"" + colour + "\", penwidth=2, width=2.3" : "") + "]\n";
  };
  const std::string stream = " [penwidth=3, color=\"#888888\", weight=50";
  const auto edge = [&](const std::string& from, const std::string& to, const std::string& style) {
    return id + from + " -> " + id + to + style + "]\n";
  };
  return "subgraph cluster_" + id + " {\nlabel=\"" + title +
         "\"\nlabelloc=b\nfontname=\"sans-serif\"\nstyle=rounded\ncolor=\"#999999\"\n" + id +
         "in [label=\"" + labels[0] + "\", shape=none, group=" + id + "s]\n" + id +
         "x [shape=point, group=" + id + "s]\n" + id +
         "add1 [label=\"+\", shape=circle, group=" + id + "s]\n" + id +
         "add2 [label=\"+\", shape=circle, group=" + id + "s]\n" + id +
         "out [label=\"to the next block\", shape=none, group=" + id + "s]\n" +
         node("norm1", labels[1], "b") + node("attention", labels[2], "b") +
         node("norm2", labels[1], "b") + node("mlp", labels[3], "b") + "}\n" +
         edge("in", "x", stream + ", arrowhead=none") + edge("x", "add1", stream) +
         edge("add1", "add2", stream) + edge("add2", "out", stream) + edge("x", "norm1", " [") +
         edge("norm1", "attention", " [") + edge("attention", "add1", " [") +
         edge("add1", "norm2", " [") + edge("norm2", "mlp", " [") + edge("mlp", "add2", " [") +
         edge("attention", "norm2", " [style=invis, weight=20");
}

const std::string blocks_graph =
    "digraph {\nrankdir=BT\nranksep=0.35\nnodesep=0.4\n"
    "node [shape=box, style=rounded, fontname=\"sans-serif\"]\n"
    "edge [color=\"#888888\", arrowsize=0.6]\n" +
    block_graph("g", "GPT-2",
                {"token embedding\\n+ position vector", "LayerNorm",
                 "attention:\\nH heads of queries,\\nkeys and values",
                 "MLP:\\nW_down gelu(W_up x)\\nhidden width 4C"},
                "#0072B2") +
    block_graph("l", "Llama (no biases)",
                {"token embedding", "RMSNorm",
                 "attention:\\nqueries and keys rotated,\\nH query heads share\\nH_kv heads of "
                 "keys and values",
                 "MLP: W_down (\\nsilu(W_gate x) * W_up x)\\nhidden width 8C/3"},
                "#D55E00") +
    "}\n";

}  // namespace heed
