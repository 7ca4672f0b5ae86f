// pictures.hpp: the tables and plots of lesson 21.
#pragma once

#include <algorithm>

#include "dates.hpp"
#include "estimate.hpp"

namespace heed {

inline double largest(const std::vector<double>& x) {
  return *std::max_element(x.begin(), x.end());
}
inline double smallest(const std::vector<double>& x) {
  return *std::min_element(x.begin(), x.end());
}

// "0.78 +- 0.06": the mean over the seeds and its standard error, if there are several seeds.
inline std::string mean_and_error(const std::vector<double>& values) {
  const Estimate e = estimate(values);
  return decimal(e.mean, 2) + (values.size() < 2 ? "" : " +- " + decimal(e.standard_error, 2));
}

// "0.06   0.3     ": the largest weight and the deviation after 0, 50 and all steps.
template <class Models>
std::string sharpness_cells(const Models& models) {
  std::string cells;
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<double> weights, deviations;
    for (const auto& each : models) {
      weights.push_back(each.sharpness[i].largest);
      deviations.push_back(each.sharpness[i].deviation);
    }
    cells += pad_right(decimal(estimate(weights).mean, 2) + "  " +
                           decimal(estimate(deviations).mean, i == 0 ? 2 : 1),
                       14);
  }
  return cells;
}

// The deviations of the scores at measurement i, one for each model.
template <class Models>
std::vector<double> deviations(const Models& models, std::size_t i) {
  std::vector<double> all;
  for (const auto& each : models) all.push_back(each.sharpness[i].deviation);
  return all;
}

// An encoder of two GRUs, additive attention, and a decoder, in Graphviz's language.
const std::string translator_graph = R"dot(digraph {
  layout=neato
  node [shape=box, style=rounded, fontname="sans-serif", width=0.55, height=0.3, margin="0.06,0.03"]
  edge [color="#666666", arrowsize=0.6, fontname="sans-serif", fontsize=11]
  x1 [shape=none, label="1", pos="0.0,0!"]
  f1 [label="GRU", color="#0072B2", pos="-0.34,0.8!"]
  b1 [label="GRU", color="#009E73", pos="0.34,1.5!"]
  h1 [label="h1", pos="0.0,2.3!"]
  a1 [label="a1 × h1", color="#D55E00", penwidth=1, width=0.8, pos="0.0,3.2!"]
  x2 [shape=none, label="7", pos="1.5,0!"]
  f2 [label="GRU", color="#0072B2", pos="1.16,0.8!"]
  b2 [label="GRU", color="#009E73", pos="1.84,1.5!"]
  h2 [label="h2", pos="1.5,2.3!"]
  a2 [label="a2 × h2", color="#D55E00", penwidth=1, width=0.8, pos="1.5,3.2!"]
  x3 [shape=none, label=":", pos="3.0,0!"]
  f3 [label="GRU", color="#0072B2", pos="2.66,0.8!"]
  b3 [label="GRU", color="#009E73", pos="3.34,1.5!"]
  h3 [label="h3", pos="3.0,2.3!"]
  a3 [label="a3 × h3", color="#D55E00", penwidth=1, width=0.8, pos="3.0,3.2!"]
  x4 [shape=none, label="4", pos="4.5,0!"]
  f4 [label="GRU", color="#0072B2", pos="4.16,0.8!"]
  b4 [label="GRU", color="#009E73", pos="4.84,1.5!"]
  h4 [label="h4", pos="4.5,2.3!"]
  a4 [label="a4 × h4", color="#D55E00", penwidth=6, width=0.8, pos="4.5,3.2!"]
  x5 [shape=none, label="5", pos="6.0,0!"]
  f5 [label="GRU", color="#0072B2", pos="5.66,0.8!"]
  b5 [label="GRU", color="#009E73", pos="6.34,1.5!"]
  h5 [label="h5", pos="6.0,2.3!"]
  a5 [label="a5 × h5", color="#D55E00", penwidth=2, width=0.8, pos="6.0,3.2!"]
  c [label="context vector c = sum of a_j h_j", color="#D55E00", pos="3,4.2!"]
  s0 [label="decoder's last state s", pos="-1.3,4.2!"]
  previous [shape=none, label="previous character", pos="-1.3,5!"]
  s1 [label="decoder's GRU: next state", pos="1.5,5!"]
  o [label="output layer", pos="3,5.8!"]
  y [shape=none, label="4", pos="3,6.4!"]
  query [shape=none, fontsize=11, fontcolor="#666666", label="query", pos="-1.0,3.75!"]
  keys [shape=none, fontsize=11, fontcolor="#666666", label="key and value", pos="-0.65,2.75!"]
  x1 -> f1; x1 -> b1; f1 -> h1; b1 -> h1; h1 -> a1
  a1 -> c [color="#D55E00", penwidth=1]
  x2 -> f2; x2 -> b2; f2 -> h2; b2 -> h2; h2 -> a2
  a2 -> c [color="#D55E00", penwidth=1]
  x3 -> f3; x3 -> b3; f3 -> h3; b3 -> h3; h3 -> a3
  a3 -> c [color="#D55E00", penwidth=1]
  x4 -> f4; x4 -> b4; f4 -> h4; b4 -> h4; h4 -> a4
  a4 -> c [color="#D55E00", penwidth=6]
  x5 -> f5; x5 -> b5; f5 -> h5; b5 -> h5; h5 -> a5
  a5 -> c [color="#D55E00", penwidth=2]
  f1 -> f2 -> f3 -> f4 -> f5 [color="#0072B2", penwidth=2]
  b5 -> b4 -> b3 -> b2 -> b1 [color="#009E73", penwidth=2]
  s0 -> a1 [style=dashed]; s0 -> a2 [style=dashed]; s0 -> a3 [style=dashed]
  s0 -> a4 [style=dashed]; s0 -> a5 [style=dashed]
  s0 -> s1 [penwidth=2]; c -> s1 [color="#D55E00", penwidth=2]; previous -> s1
  c -> o [color="#D55E00", penwidth=2]; s1 -> o [penwidth=2]; o -> y
}
)dot";

}  // namespace heed
