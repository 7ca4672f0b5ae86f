// pictures.hpp: the plots and the table rows of lesson 05.
#pragma once

#include <map>

#include "harbour.hpp"
#include "lesson.hpp"

namespace heed {

// Formats a number with four decimals in ten columns.
inline std::string column(double x) { return pad_left(decimal(x, 4), 10); }

// Nodes with their names.
template <class Node>
using Named = std::vector<std::pair<std::string, Node>>;

// Prints data and gradient of each of the lesson's named Scalars.
template <class Nodes>
void show_data_and_grad(const Nodes& nodes) {
  say("\n   made by      data      grad");
  for (const auto& [name, v] : nodes)
    say(name + pad_right("  " + v.number->op, 9) + column(v.data()) + column(v.grad()));
}

// The names of five rows: the steps after each quarter of the training.
inline Names quarters(std::int64_t steps) {
  Names rows;
  for (std::int64_t i = 0; i <= 4; ++i) rows.push_back("step " + std::to_string(i * steps / 4));
  return rows;
}

// The graph of the lesson's named Scalars in Graphviz's language: data and gradient of each node,
// and the local derivative of each edge. The two paths from b to f are orange and blue.
template <class Nodes>
std::string drawn(const Nodes& nodes) {
  std::map<const void*, std::string> names;
  std::string dot =
      "digraph {\n  rankdir=LR\n  fontname=\"sans-serif\"\n  labelloc=t\n"
      "  label=\"df/db = -3 * 1 (orange path) + -1 (blue path) = -4\\n"
      "Edges: local derivatives. Nodes: data and gradient.\\n \"\n"
      "  node [shape=record, fontname=\"sans-serif\"]\n  edge [fontname=\"sans-serif\"]\n";
  for (const auto& [name, v] : nodes) {
    names[v.number.get()] = name;
    dot += "  " + name + " [label=\"" + name + " (" + v.number->op + ") | data " +
           decimal(v.data(), 1) + " | grad " + decimal(v.grad(), 1) + "\"]\n";
    for (const auto& [input, local] : v.number->inputs) {
      const std::string from = names[input.get()];
      const std::string color = from == "a"           ? "#888888"
                                : from + name == "bf" ? "#0072B2"
                                                      : "#D55E00";
      dot += "  " + from + " -> " + name + " [label=\" " + decimal(local, 0) + " \" color=\"" +
             color + "\" fontcolor=\"" + color + "\" penwidth=" + (from == "a" ? "1" : "2.5") +
             "]\n";
    }
  }
  return dot + "}\n";
}

// Plots the probabilities of ten tokens after six letters, for two matrices of logits.
inline void picture_of_letters(const Harbour& play, const Tensor& trained, const Tensor& counted,
                               SourceLocation location = SourceLocation::current()) {
  const std::string letters = " aehiortuy", current = "ehqtvz";
  std::vector<Array> panels;
  HeatmapOptions options;
  for (const char letter : letters) options.column_names.push_back({letter});
  for (const char letter : current) options.row_names.push_back({letter});
  for (const Tensor& logits : {trained, counted}) {
    const Array p = softmax(logits, -1).value();
    Array panel = zeros({current.size(), letters.size()});
    for (std::size_t i = 0; i < current.size(); ++i)
      for (std::size_t j = 0; j < letters.size(); ++j)
        panel(i, j) = p(play.vocabulary.id(current[i]), play.vocabulary.id(letters[j]));
    panels.push_back(panel);
  }
  options.row_title = "current token", options.column_title = "next token";
  options.low = 0, options.high = 1;
  picture("05_autograd", "letters", panels, {"probabilities, trained", "probabilities, counted"},
          options, 2, location);
}

}  // namespace heed
