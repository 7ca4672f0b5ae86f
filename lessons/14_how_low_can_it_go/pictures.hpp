// pictures.hpp: the table and the plots of lesson 14.
#pragma once

#include "gnuplot_picture.hpp"
#include "measures.hpp"

namespace heed {

// Prints the lower bound on the loss for several context lengths, in letters.
inline void show_bounds(const std::vector<double>& bounds) {
  std::string table = "letters of context    lower bound\n";
  for (const std::size_t letters : {0u, 1u, 2u, 3u, 5u, 13u, 14u, 16u, 18u, 20u, 24u})
    table +=
        pad_left(std::to_string(letters), 18) + "         " + decimal(bounds[letters], 4) + "\n";
  print_text("\n" + table, true, SourceLocation::current());
}

// Plots the lower bound and the models' loss at each position of a window, without the first four:
// they are so high that the others would look equal.
template <class Learners>
void picture_of_positions(const MarkovSource& source, const Learners& learners) {
  Array excess = zeros({T});  // the mean over the windows and the models
  for (const auto& learner : learners)
    excess += xt::mean(learner.excess, {0}) / Real(learners.size());
  const std::vector<double> bounds = source.conditional_entropies(T);
  Series model{"mean of three models", {}, {}, /*points=*/true}, bound{"lower bound", {}, {}};
  for (std::size_t t = 4; t < T; ++t) {
    model.append(double(t + 1), bounds[t + 1] + double(excess(t)));
    bound.append(double(t + 1), bounds[t + 1]);
  }
  picture("14_how_low_can_it_go", "positions", {model, bound},
          {"more context, lower loss", "letters of context",
           "lower bound + excess loss (nats per letter)"});
}

// Plots the ideal (Bayes-optimal) predictor's loss at each letter of the first window as a bar, and
// the loss of each model as a point.
inline void picture_of_letters(const std::string& name, const Texts& texts,
                               const std::vector<Array>& excess) {
  const Names colors = {"#0072B2", "#D55E00"}, names = {"causal mask", "mask off by one"};
  std::string tics,
      plots = "plot $ideal using 1:2 with boxes fs solid lc rgb '#BBBBBB' title 'ideal predictor'";
  Array ideal = zeros({T, 2});
  for (std::size_t t = 0; t < T; ++t) {
    const char letter = texts.new_text[t + 1];
    const std::string shown = letter == '\n' ? "↵" : letter == ' ' ? "␣" : std::string(1, letter);
    tics += (t > 0 ? ", '" : "'") + shown + "' " + std::to_string(t);
    xt::row(ideal, int(t)) = Array{Real(t), texts.ideal(0, t)};
  }
  std::string data = gnuplot_block("ideal", ideal);
  for (std::size_t m = 0; m < excess.size(); ++m) {
    Array points = ideal;
    for (std::size_t t = 0; t < T; ++t) points(t, 1) += excess[m](0, t);
    data += gnuplot_block("model" + std::to_string(m), points);
    plots += ", $model" + std::to_string(m) + " using 1:2 with points pt 7 ps 0.7 lc rgb '" +
             colors[m] + "' title '" + names[m] + "'";
  }
  picture_by_gnuplot(
      "14_how_low_can_it_go", name,
      data + "set boxwidth 0.8\nset yrange [0:*]\nset xrange [-1:" + std::to_string(T) +
          "]\nset xtics (" + tics + ") scale 0 font 'monospace,13'\nunset grid\nset grid y\n" +
          "set xlabel 'letter of the window'\n" + "set ylabel 'loss (nats)'\n" + plots);
}

// The grammar of two of the eight subjects in Graphviz's language: words and their probabilities.
const std::string source_graph = R"dot(digraph {
  rankdir=LR
  nodesep=0.5
  node [shape=circle, label="", width=0.18, fixedsize=true, style=filled, fillcolor="#0072B2"]
  edge [fontname="sans-serif", fontsize=13, arrowsize=0.7]
  start [fillcolor="#D55E00"]
  start -> a1 [label="  the owl   1/8  \n "]
  start -> b1 [label="  the owls   1/8  \n "]
  start -> more [label="  6 more subjects   1/8 each  ", style=dashed]
  more [shape=none, style="", label="..."]
  a1 -> a2 [label="  in the   1/4  \n  on the   1/4  \n  by the   1/4  \n  near the   1/4  \n "]
  a2 -> a3 [label="  barn   1/4  \n  hill   1/4  \n  river   1/4  \n  garden   1/4  \n "]
  a3 -> end1 [label="  hoots   3/4  \n  hunts   1/4  \n "]
  b1 -> b2 [label="  in the   1/4  \n  on the   1/4  \n  by the   1/4  \n  near the   1/4  \n "]
  b2 -> b3 [label="  barn   1/4  \n  hill   1/4  \n  river   1/4  \n  garden   1/4  \n "]
  b3 -> end1 [label="  hoot   3/4  \n  hunt   1/4  \n "]
  end1 [fillcolor="#D55E00"]
}
)dot";

}  // namespace heed
