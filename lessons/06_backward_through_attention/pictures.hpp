// pictures.hpp: the graph of the backward pass, and the layout of tables, for lesson 06.
#pragma once

#include "lesson.hpp"

namespace heed {

// Prints a gradient, and compares it with the one computed by loops and with heed's.
inline void show_gradient(const std::string& title, const Array& gradient, const Array& by_hand,
                          const Tensor& x, const Names& words, const Names& columns = {}) {
  show(title, gradient, words, columns);
  check("by hand = in one line", by_hand, gradient);
  check("in one line = by heed", gradient, x.grad());
}

// Prints the contributions to the gradient of x that Provenance has recorded.
inline void show_sources(const Tensor& x) {
  say("\nthe gradient of " + x.name());
  for (const Contribution& part : contributions(x))
    say("  += from " + part.op + " '" + part.name + "', " + str(part.location) + ", norm " +
        decimal(part.norm, 4));
}

// Prints a line of the table of gradient descent.
inline void print_steps(int steps, const std::vector<std::size_t>& changed, Real loss,
                        Real weight) {
  const Names matrices = {"W_K", "W_Q", "W_V"};
  std::string names;
  for (const std::size_t i : changed) names += (names.empty() ? "" : ", ") + matrices[i];
  say(pad_left(std::to_string(steps), 5) + "   " + pad_right(names, 16) +
      pad_left(decimal(loss, 4), 8) + "    " + decimal(weight, 4));
}

// Plots the attention weights and the gradients of weights and scores side by side.
inline void picture_of_gradients(const Array& A, const Array& dA, const Array& dS,
                                 const Names& words,
                                 SourceLocation location = SourceLocation::current()) {
  HeatmapOptions options;
  options.row_names = options.column_names = words;
  options.row_title = "query position", options.column_title = "key position";
  options.diverging = true;
  picture("06_backward_through_attention", "gradients", {A, dA, dS},
          {"A: the weights", "dA", "dS = A * (dA - mean)"}, options, 3, location);
}

// The backward pass in Graphviz's language. Each edge is labelled with the formula that computes
// its end, and below it with the array of the forward pass in this formula.
inline std::string backward_flow() {
  std::string dot = R"dot(digraph {
  label=<<font point-size="20">The backward pass: what each gradient is computed from</font><br/>
    <font color="#C04A00">orange: the array of the forward pass in the formula</font><br/> >
  labelloc=t fontname="sans-serif" fontsize=16 nodesep=0.5 ranksep=0.45
  node [shape=box style="rounded,filled" fillcolor="#EAF3FA" color="#0072B2"]
  node [fontname="sans-serif" fontsize=17]
  edge [color="#0072B2" fontname="sans-serif" fontsize=16]
  loss [fillcolor=white]
  dO [label="dO (3, 4)"]  dA [label="dA (3, 3)"]  dS [label="dS (3, 3)"]
  dV [label="dV (3, 4)"]  dQ [label="dQ (3, 4)"]  dK [label="dK (3, 4)"]
  dW_V [label="dW_V (5, 4)"]  dW_Q [label="dW_Q (5, 4)"]  dW_K [label="dW_K (5, 4)"]
  dX [label="dX (3, 5)"]
  {rank=same dV dK dQ}
  {rank=same dW_V dW_K dW_Q}
  dW_K -> dX [style=invis]
)dot";
  const auto edge = [&](const std::string& from, const std::string& to, const std::string& formula,
                        const std::string& array) {
    dot += "  " + from + " -> " + to + " [label=<<table border=\"0\" cellspacing=\"0\"" +
           " cellpadding=\"1\"><tr><td width=\"12\"></td><td>" + formula +
           "</td></tr><tr><td></td><td><font color=\"#C04A00\">" + array +
           "</font></td></tr></table>>]\n";
  };
  edge("loss", "dO", "O - target", "O");
  edge("dO", "dV", "A^T dO", "A"), edge("dO", "dA", "dO V^T", "V");
  edge("dA", "dS", "A * (dA - rowsum(A * dA))", "A");
  edge("dS", "dK", "dS^T Q / 2", "Q"), edge("dS", "dQ", "dS K / 2", "K");
  edge("dV", "dW_V", "X^T dV", "X"), edge("dV", "dX", "dV W_V^T", "W_V");
  edge("dK", "dW_K", "X^T dK", "X"), edge("dK", "dX", "+ dK W_K^T", "W_K");
  edge("dQ", "dW_Q", "X^T dQ", "X"), edge("dQ", "dX", "+ dQ W_Q^T", "W_Q");
  return dot + "}\n";
}

}  // namespace heed
