// pictures.hpp: the tables and the plot of lengths of lesson 20.
#pragma once

#include <algorithm>
#include <cmath>

#include "estimate.hpp"
#include "gnuplot_picture.hpp"
#include "sequences.hpp"

namespace heed {

inline double largest(const std::vector<double>& x) {
  return *std::max_element(x.begin(), x.end());
}
inline double smallest(const std::vector<double>& x) {
  return *std::min_element(x.begin(), x.end());
}

// "1.00", or "0.62 +- 0.02" if the seeds differ: the mean over the seeds and its standard error.
inline std::string mean_and_error(const std::vector<double>& values) {
  const Estimate e = estimate(values);
  const std::string error = values.size() < 2 ? "0.00" : decimal(e.standard_error, 2);
  return decimal(e.mean, 2) + (error == "0.00" ? "" : " +- " + error);
}

// The exact match for sources of one length: a vector over the seeds for each task.
struct LengthRow {
  std::size_t length;
  std::vector<std::vector<double>> matches = {};
};

inline std::string table_of_lengths(const std::vector<LengthRow>& rows) {
  std::string table = "letters   reverse        sort           shuffle";
  for (const LengthRow& row : rows) {
    table += "\n" + pad_left(std::to_string(row.length), 7) + "   ";
    for (const std::vector<double>& match : row.matches)
      table += pad_right(mean_and_error(match), 15);
    table += row.length == left_out ? "not in training" : row.length > longest ? "beyond" : "";
    table.resize(table.find_last_not_of(' ') + 1);
  }
  return table;
}

// The lowest exact match of the three tasks; each is a mean over the trained lengths and the seeds.
inline double lowest_trained(const std::vector<LengthRow>& rows) {
  std::vector<std::vector<double>> of_task(3);
  for (const LengthRow& row : rows)
    if (row.length <= longest && row.length != left_out)
      for (std::size_t k = 0; k < 3; ++k) of_task[k].push_back(estimate(row.matches[k]).mean);
  return std::min(
      {estimate(of_task[0]).mean, estimate(of_task[1]).mean, estimate(of_task[2]).mean});
}

// Plots the exact match against the length, on grey bands for the lengths of the training.
inline void draw_lengths(const std::vector<LengthRow>& rows) {
  Array points = zeros({rows.size(), 7});  // letters, then mean and standard error of each task
  for (std::size_t i = 0; i < rows.size(); ++i) {
    points(i, 0) = Real(rows[i].length);
    for (std::size_t k = 0; k < 3; ++k) {
      const Estimate e = estimate(rows[i].matches[k]);
      points(i, 1 + 2 * k) = Real(e.mean), points(i, 2 + 2 * k) = Real(e.standard_error);
    }
  }
  std::string script = gnuplot_block("data", points);
  for (const auto& [from, to] :
       {std::pair(shortest, left_out - 1), std::pair(left_out + 1, longest)})
    script += "set object rectangle from " + decimal(double(from) - 0.45, 2) + ",graph 0 to " +
              decimal(double(to) + 0.45, 2) + ",graph 1 behind fc rgb '#EEEEEE' lw 0\n";
  script +=
      "set title 'held-out sequences: mean of the seeds, standard error; grey: trained lengths'\n"
      "set xlabel 'letters in the source'\nset ylabel 'exact match'\nset yrange [-0.03:1.03]\n"
      "set xrange [" +
      decimal(double(shortest) - 0.6, 1) + ":" + decimal(double(longest_tested) + 0.6, 1) +
      "]\nset xtics 1\nset key left center\n";
  const Names styles = {"pt 7 lc rgb '#0072B2'", "pt 5 lc rgb '#D55E00'", "pt 9 lc rgb '#009E73'"};
  for (std::size_t k = 0; k < 3; ++k)
    script += (k == 0 ? "plot $data using 1:" : ", $data using 1:") + std::to_string(2 + 2 * k) +
              ":" + std::to_string(3 + 2 * k) + " with yerrorlines lw 2 " + styles[k] + " title '" +
              task_names[k] + "'";
  picture_by_gnuplot("20_encoder_decoder", "lengths", script);
}

// The heads of one task, a number for each seed. The fraction of the target's letters for which the
// largest weight is on the copied letter: the weight in the mean of the heads, in the best head,
// and in the letter's own head. And the fraction that is predicted right with all heads, without
// the letter's own head, and without one of the others (mean of the three).
struct HeadRow {
  std::string task;
  std::vector<double> of_mean = {}, of_best = {}, of_own = {}, with_all = {}, without_own = {},
                      without_another = {};
};

inline std::string table_of_accuracies(const std::vector<HeadRow>& rows) {
  std::string table = "right letters, all heads  without the letter's head  without another head";
  for (const HeadRow& row : rows)
    table += "\n" + pad_right(row.task, 15) + pad_right(mean_and_error(row.with_all), 11) +
             pad_right(mean_and_error(row.without_own), 27) + mean_and_error(row.without_another);
  return table;
}

inline std::vector<double> differences(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}

// The exact match of models that lack an attention, for each task and seed, and the loss of
// 'shuffle' for each seed.
struct AblationRow {
  std::string removed;
  std::vector<std::vector<double>> matches = {};
  std::vector<double> losses = {};
};

inline std::string table_of_ablations(const std::vector<AblationRow>& rows) {
  std::string table =
      "removed                reverse       sort          shuffle       loss, shuffle";
  for (const AblationRow& row : rows)
    table += "\n" + pad_right(row.removed, 23) + pad_right(mean_and_error(row.matches[0]), 14) +
             pad_right(mean_and_error(row.matches[1]), 14) +
             pad_right(mean_and_error(row.matches[2]), 14) + mean_and_error(row.losses);
  return table;
}

// The two stacks, in Graphviz's language.
const std::string architecture = R"dot(digraph {
  rankdir=BT
  newrank=true
  ranksep=0.4
  nodesep=0.5
  fontname="sans-serif"
  node [shape=box, style=rounded, fontname="sans-serif", width=2.1]
  edge [color="#0072B2", arrowsize=0.7, fontname="sans-serif", fontsize=12]
  source [shape=none, label="source (B, S)"]
  input [shape=none, label="<start> and the target (B, T)"]
  logits [shape=none, label="logits (B, T, V)"]
  subgraph cluster_encoder {
    label="encoder"; labelloc=b; labeljust=l; style=rounded; color="#999999"
    embed_source [label="token embedding\n+ positions"]
    self [label="self-attention"]
    mlp_source [label="MLP"]
    memory [label="memory (B, S, C)", shape=none]
    embed_source -> self -> mlp_source -> memory
  }
  subgraph cluster_decoder {
    label="decoder"; labelloc=b; labeljust=l; style=rounded; color="#999999"
    embed_target [label="token embedding\n+ positions"]
    causal [label="causal self-attention"]
    cross [label="cross-attention"]
    mlp [label="MLP"]
    embed_target -> causal
    causal -> cross [label=" queries"]
    cross -> mlp
  }
  source -> embed_source
  input -> embed_target
  mlp -> output -> logits
  output [label="output layer"]
  {rank=same; memory -> cross [color="#009E73", penwidth=3, label="  keys, values  "]}
}
)dot";

}  // namespace heed
