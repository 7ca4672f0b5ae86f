// graphviz.cpp: writes weight matrices as directed graphs in Graphviz's DOT language.

#include "heed/draw/graphviz.hpp"

#include <algorithm>

#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {

// Edges are 0.5 to 6 points wide. Edges with weights below 0.005 are dashed and have no label,
// because the label would be "0.00".
static std::string edge(std::size_t from, std::size_t to, double weight) {
  const std::string style =
      weight < 0.005 ? "style=dashed" : "label=" + graphviz_string(" " + decimal(weight, 2));
  return "  n" + std::to_string(from) + " -> n" + std::to_string(to) +
         " [penwidth=" + decimal(std::clamp(6 * weight, 0.5, 6.0), 2) + ", " + style + "]\n";
}

std::string graphviz_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : printable(text))
    quoted += c == '&' ? "&amp;" : (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
  return quoted + "\"";
}

std::string weighted_graph(const Array& weights, const std::vector<std::string>& names) {
  const Shape shape = shape_of(weights);
  if (shape.size() != 2 || shape[0] != shape[1])
    throw_error("graph: needs a square matrix, got weights ", str(shape));
  if (names.size() != shape[0])
    throw_error("graph: ", names.size(), " names for weights ", str(shape));
  std::string text =
      "digraph {\n  node [shape=box, style=rounded, fontname=\"sans-serif\"]\n"
      "  edge [color=\"#0072B2\", arrowsize=0.6, fontname=\"sans-serif\", fontsize=11]\n";
  for (std::size_t i = 0; i < names.size(); ++i)  // numbers distinguish nodes with the same name
    text += "  n" + std::to_string(i) + " [label=" + graphviz_string(names[i]) + "]\n";
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t j = 0; j < names.size(); ++j)
      if (weights(i, j) > 0) text += edge(j, i, static_cast<double>(weights(i, j)));
  return text + "}\n";
}

}  // namespace HEED_NAMESPACE
