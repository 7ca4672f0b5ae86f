// graphviz.cpp: weights as graphs in Graphviz's language, which its program dot draws as SVG.

#include "heed/report/graphviz.hpp"

#include <algorithm>

#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace heed {
namespace {

const PlotProgram graphviz{"Graphviz", "graphviz (apt, brew, conda)"};

void check_graph(const Array& weights, const std::vector<std::string>& names) {
  const Shape shape = shape_of(weights);
  if (shape.size() != 2 || shape[0] != shape[1])
    throw_error("graph: needs a square matrix, got weights ", str(shape));
  if (names.size() != shape[0])
    throw_error("graph: ", names.size(), " names for weights ", str(shape));
}

// Up to six points wide, and never too thin to see.
std::string arrow(std::size_t from, std::size_t to, double weight) {
  return "  n" + std::to_string(from) + " -> n" + std::to_string(to) +
         " [penwidth=" + decimal(std::clamp(6 * weight, 0.5, 6.0), 2) +
         ", label=" + graphviz_string(" " + decimal(weight, 2)) + "]\n";
}

}  // namespace

Plot draw_with_graphviz(const std::string& folder, const std::string& name,
                        const std::string& dot_text) {
  return draw_with(graphviz, {"dot", "-Tsvg", "-o" + name + ".svg", "./" + name + ".dot"}, folder,
                   name, ".dot", dot_text);
}

std::string graphviz_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : printable(text))
    quoted += c == '&' ? "&amp;" : (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
  return quoted + "\"";
}

std::string weighted_graph(const Array& weights, const std::vector<std::string>& names) {
  check_graph(weights, names);
  std::string text =
      "digraph {\n  node [shape=box, style=rounded, fontname=\"sans-serif\"]\n"
      "  edge [color=\"#0072B2\", arrowsize=0.6, fontname=\"sans-serif\", fontsize=11]\n";
  for (std::size_t i = 0; i < names.size(); ++i)  // numbered, as two nodes may have one name
    text += "  n" + std::to_string(i) + " [label=" + graphviz_string(names[i]) + "]\n";
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t j = 0; j < names.size(); ++j)
      if (weights(i, j) > 0) text += arrow(j, i, static_cast<double>(weights(i, j)));
  return text + "}\n";
}

}  // namespace heed
