// graph.cpp: the autograd graph as text and in Graphviz's DOT language.

#include "heed/debug/graph.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <unordered_map>

#include "heed/autograd/backward.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {

using Numbers = std::unordered_map<const Node*, std::size_t>;

static Numbers numbered(const NodeList& nodes) {
  Numbers numbers;
  for (const auto& node : nodes) numbers.emplace(node.get(), numbers.size());
  return numbers;
}

static std::string label(const Node& node) {
  std::string text(node.op);
  if (!node.name.empty()) text = printable(node.name) + " = " + text;
  return text + " " + str(node.value.shape());
}

std::string graph_text(const Tensor& output, SourceLocation location) {
  const NodeList nodes = topological_order(output, NodeSet::all, location);
  const Numbers numbers = numbered(nodes);
  std::size_t op_width = 0, name_width = 0, shape_width = 0;
  for (const auto& node : nodes) {
    op_width = std::max(op_width, node->op.size());
    name_width = std::max(name_width, printable(node->name).size());
    shape_width = std::max(shape_width, str(node->value.shape()).size());
  }
  const int number_width = static_cast<int>(std::to_string(nodes.size() - 1).size());
  std::ostringstream out;
  for (const auto& node : nodes) {
    out << '#' << std::left << std::setw(number_width) << numbers.at(node.get()) << "  "
        << std::setw(static_cast<int>(op_width)) << node->op << "  "
        << std::setw(static_cast<int>(name_width)) << printable(node->name) << "  "
        << std::setw(static_cast<int>(shape_width)) << str(node->value.shape());
    if (!node->inputs.empty()) out << "  from";
    for (const auto& input : node->inputs)
      if (input != nullptr) out << " #" << numbers.at(input.get());
    out << "  " << str(node->location) << '\n';
  }
  return out.str();
}

std::string graph_dot(const Tensor& output, SourceLocation location) {
  const NodeList nodes = topological_order(output, NodeSet::all, location);
  const Numbers numbers = numbered(nodes);
  std::ostringstream out;
  out << "digraph heed {\n  rankdir = BT;\n"
         "  node [shape = box, style = \"rounded,filled\", fillcolor = white, fontname = "
         "\"Helvetica\"];\n";
  for (const auto& node : nodes) {
    out << "  n" << numbers.at(node.get()) << " [label = " << std::quoted(label(*node));
    if (node->inputs.empty()) out << ", fillcolor = " << (node->requires_grad ? "gold" : "gray90");
    out << "];\n";
    for (const auto& input : node->inputs)
      if (input != nullptr)
        out << "  n" << numbers.at(input.get()) << " -> n" << numbers.at(node.get()) << ";\n";
  }
  out << "}\n";
  return out.str();
}

}  // namespace HEED_NAMESPACE
