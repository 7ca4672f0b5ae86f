// by_hand.hpp: layer normalization and the MLP by hand, and the picture of a GPT, for lesson 12.
#pragma once

#include <cmath>

#include "lesson.hpp"

namespace heed {

// (x - mean) / sqrt(variance + 1e-5) for each row. The 1e-5 prevents a division by zero.
inline Array norm_by_hand(const Array& x) {
  Array y = x;
  for (std::size_t t = 0; t < x.shape(0); ++t) {
    double mean = 0, variance = 0;
    for (std::size_t c = 0; c < x.shape(1); ++c) mean += x(t, c) / double(x.shape(1));
    for (std::size_t c = 0; c < x.shape(1); ++c)
      variance += (x(t, c) - mean) * (x(t, c) - mean) / double(x.shape(1));
    for (std::size_t c = 0; c < x.shape(1); ++c)
      y(t, c) = Real((x(t, c) - mean) / std::sqrt(variance + 1e-5));
  }
  return y;
}

// x W^T + b, and optionally GELU(z) = z P(Z < z), where Z has a standard normal distribution.
inline Array linear_by_hand(const nn::Linear& layer, const Array& x, bool with_gelu) {
  const Array &W = layer.weight.value(), &b = layer.bias.value();  // (out, in), (out)
  Array y = zeros({x.shape(0), W.shape(0)});
  for (std::size_t t = 0; t < y.shape(0); ++t)
    for (std::size_t o = 0; o < y.shape(1); ++o) {
      double z = b(o);
      for (std::size_t i = 0; i < x.shape(1); ++i) z += x(t, i) * W(o, i);
      y(t, o) = Real(with_gelu ? z * (1 + std::erf(z / std::sqrt(2.0))) / 2 : z);
    }
  return y;
}

inline Array mlp_by_hand(const nn::Mlp& mlp, const Array& x) {
  return linear_by_hand(mlp.down, linear_by_hand(mlp.up, x, true), false);  // (T, 4C), (T, C)
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
    label="transformer block,  \r6 times  \r"
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
