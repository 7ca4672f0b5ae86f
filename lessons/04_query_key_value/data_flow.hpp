// data_flow.hpp: the data flow of scaled dot-product attention, in Graphviz's language.
#pragma once

#include <string>

namespace heed {

// Each arrow is labelled with the shape of the array that flows along it.
const std::string data_flow = R"dot(digraph {
  ranksep=0.35
  fontname="sans-serif"
  labelloc=t
  label="Scaled dot-product attention: operations and shapes\n "
  node [shape=box, style=rounded, fontname="sans-serif"]
  edge [color="#0072B2", arrowsize=0.6, fontname="sans-serif", fontsize=11]
  Q [label="Q = X W_Q"]
  K [label="K = X W_K"]
  V [label="V = X W_V"]
  scores [label="scores\nS = Q K^T / sqrt(4)"]
  mask [label="mask: -inf for\nlater keys"]
  weights [label="attention weights\nA = softmax of each row"]
  output [label="output\nO = A V"]
  end [shape=none, label=""]
  X -> { Q K V } [label=" (3, 5)"]
  { Q K } -> scores [label=" (3, 4)"]
  scores -> mask [label=" (3, 3)"]
  mask -> weights [label=" (3, 3)"]
  weights -> output [label=" (3, 3)"]
  V -> output [label=" (3, 4)"]
  output -> end [label=" (3, 4)"]
}
)dot";

}  // namespace heed
