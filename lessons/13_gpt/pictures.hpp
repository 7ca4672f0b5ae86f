// pictures.hpp: the tables and plots of lesson 13.
#pragma once

#include "estimate.hpp"
#include "gnuplot_picture.hpp"

namespace heed {

inline std::string mean_and_error(const Estimate& e) {
  return decimal(e.mean, 2) + " +- " + decimal(e.standard_error, 3);
}

// The losses of the seeds of a variant.
template <class Seeds>
std::vector<double> losses_of(const Seeds& seeds) {
  std::vector<double> losses;
  for (const auto& seed : seeds) losses.push_back(seed.loss);
  return losses;
}
template <class Seeds>
double mean_of(const Seeds& seeds) {
  return estimate(losses_of(seeds)).mean;
}

template <class Variants>
Names names_of(const Variants& variants) {
  Names names;
  for (const auto& variant : variants) names.push_back(variant.name);
  return names;
}

// Prints the number of parameters and the losses of each variant: mean and standard error.
template <class Seeds>
void show_losses(const Names& names, const std::vector<Seeds>& rows) {
  std::string table = "                             parameters  held-out loss, trained (3 seeds)\n";
  for (std::size_t r = 0; r < rows.size(); ++r)
    table += pad_right(names[r], 29) + pad_left(grouped(double(rows[r][0].parameters)), 10) + "  " +
             mean_and_error(estimate(losses_of(rows[r]))) + "\n";
  print_text("\n" + table + "\n", true, SourceLocation::current());
}

// Prints the losses with ordinary and with large first weights.
template <class Seeds>
void show_deviations(const Names& names, const std::vector<Seeds>& ordinary,
                     const std::vector<Seeds>& large) {
  std::string table =
      "held-out loss, trained (3 seeds)\n"
      "first weights   as before       4 times as large\n";
  for (std::size_t r = 0; r < large.size(); ++r)
    table += pad_right(names[r], 16) + mean_and_error(estimate(losses_of(ordinary[r]))) + "  " +
             mean_and_error(estimate(losses_of(large[r]))) + "\n";
  print_text("\n" + table, true, SourceLocation::current());
}

// Prints the variance between rows before and after training, as a mean of the seeds.
template <class Seeds>
void show_variances(const Names& names, const std::vector<Seeds>& rows) {
  std::string table =
      "share of the squares, trained (3 seeds)\n"
      "                            after block:     0     1     2     3     4\n";
  const auto line = [&](const std::string& name, const Seeds& seeds, bool is_after) {
    table += pad_right(name, 40);
    for (std::size_t l = 0; l < seeds[0].before.size(); ++l) {
      std::vector<double> shares;
      for (const auto& seed : seeds) shares.push_back((is_after ? seed.after : seed.before)(l));
      table += pad_left(decimal(estimate(shares).mean, 2), 6);
    }
    table += "\n";
  };
  for (std::size_t r = 0; r < rows.size(); ++r) {
    line(names[r] + ", before training", rows[r], false);
    line(names[r] + ", after it", rows[r], true);
  }
  print_text("\n" + table, true, SourceLocation::current());
}

// Plots the losses of the seeds and their mean, a line for each variant.
template <class Seeds>
void picture_of_losses(const Names& names, const std::vector<Seeds>& rows, double unigram,
                       double bigram) {
  const std::size_t n = rows.size();
  Array points = zeros({3 * n, 2}), means = zeros({n, 3});
  std::string tics;
  for (std::size_t v = 0; v < n; ++v) {
    const Estimate e = estimate(losses_of(rows[v]));
    const Real y = Real(n - 1 - v);
    for (std::size_t s = 0; s < 3; ++s)
      xt::row(points, int(3 * v + s)) = Array{Real(rows[v][s].loss), y};
    xt::row(means, int(v)) = Array{Real(e.mean), y, Real(e.standard_error)};
    tics += (v > 0 ? ", '" : "'") + names[v] + "' " + std::to_string(n - 1 - v);
  }
  const auto line = [](const std::string& name, double x) {
    const std::string at = decimal(x, 4);
    return "set arrow from " + at + ", graph 0 to " + at +
           ", graph 1 nohead dt 2 lw 2 lc rgb '#666666'\nset label '" + name + " " + decimal(x, 2) +
           "' at " + at + ", graph 1.03 center tc rgb '#666666'\n";
  };
  picture_by_gnuplot(
      "13_gpt", "parts",
      gnuplot_block("points", points) + gnuplot_block("means", means) +
          "unset key\nset tmargin 3\nset lmargin 30\nset xrange [1.5:3.4]\nset yrange [-0.6:" +
          decimal(double(n) - 0.4, 1) + "]\nset ytics (" + tics + ")\n" +
          line("lowest of a bigram model:", bigram) + line("lowest without input:", unigram) +
          "set xlabel 'held-out loss (nats per character): three seeds, their mean and standard "
          "error'\n"
          "plot $means using 1:2:3 with xerrorbars pt 7 ps 0.7 lw 2 lc rgb '#0072B2', "
          "$points with points pt 6 ps 1.5 lw 1.5 lc rgb '#D55E00'");
}

// A GPT in Graphviz's language. Arrows are labelled with the shape of the array that flows along
// them. The thick arrows are the residual stream.
const std::string gpt_graph = R"dot(digraph {
  rankdir=BT
  ranksep=0.3
  nodesep=0.5
  node [shape=box, style=rounded, fontname="sans-serif"]
  edge [color="#0072B2", arrowsize=0.6, fontname="sans-serif", fontsize=11]
  tokens [shape=none, group=stream]
  embed [label="token embedding\n+ position encoding", group=stream]
  subgraph cluster_block {
    label="transformer block,  \r4 times  \r"
    labelloc=b
    labeljust=r
    fontname="sans-serif"
    style="rounded"
    color="#999999"
    x [shape=point, group=stream]
    add1 [label="+", shape=circle, group=stream]
    add2 [label="+", shape=circle, group=stream]
    norm1 [group=branch]
    attention [label="self-attention,\ncausal mask", group=branch]
    norm2 [group=branch]
    up [label="MLP:\nlinear, GELU", group=branch]
    down [label="MLP:\nlinear", group=branch]
  }
  norm [label="final norm", group=stream]
  head [label="output layer", group=stream]
  logits [shape=none, group=stream]
  tokens -> embed [label="  (B, T)", weight=50]
  embed -> x [label="  x (B, T, C)", arrowhead=none, weight=50, penwidth=3, color="#D55E00"]
  x -> norm1
  x -> add1 [penwidth=3, color="#D55E00", weight=50, label="  residual   \n  connection   "]
  norm1 -> attention
  attention -> add1 [label="  (B, T, C)"]
  add1 -> norm2
  add1 -> add2 [penwidth=3, color="#D55E00", weight=50, label="  residual   \n  connection   "]
  norm2 -> up
  up -> down [label="  (B, T, 4C)"]
  down -> add2 [label="  (B, T, C)"]
  add2 -> norm [label="  x (B, T, C)", weight=50, penwidth=3, color="#D55E00"]
  norm -> head [weight=50]
  head -> logits [label="  (B, T, V)", weight=50]
  embed -> head [style=dashed, dir=none, constraint=false, color="#666666",
    label="  weight tying:\n  the same matrix"]
}
)dot";

}  // namespace heed
