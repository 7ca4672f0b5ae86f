// backward_table.cpp: HEED_TRACE=backward, which prints a table of each backward pass.

#include "debug/backward_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <unordered_map>

#include "debug/labels.hpp"
#include "heed/base/text.hpp"
#include "heed/debug/trace.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr std::size_t norm_width = 9;  // "1.235e-05"
// Maximum width of the column "passes to" (a node's inputs). Wider cells shift the next cells.
constexpr std::size_t max_passed_width = 90;

// The L2 norm with four significant digits.
std::string norm(const Array& x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", std::abs(l2_norm(x)));  // no "-nan"
  return text;
}

// The table of one backward pass.
class Table {
 public:
  explicit Table(const NodeList& nodes);
  void begin_line(const Node& node);
  void add(const Node& input, const Array& part);
  void end_line();

 private:
  void widen_columns(const Node& node);
  std::string columns(const std::string& number, std::string_view op, const std::string& name,
                      const std::string& shape, const std::string& gradient) const;
  std::string number_of(const Node& node) const;

  // Each node's index in topological_order(). The raw pointers do not keep the nodes alive.
  std::unordered_map<const Node*, std::size_t> numbers_;
  std::size_t number_width_ = 0, op_width_ = 2, name_width_ = 4, shape_width_ = 5;
  std::size_t passed_width_ = 8;
  std::string line_, passed_, location_;  // table row of the node whose backward is running
};

Table::Table(const NodeList& nodes) {
  for (const auto& node : nodes) numbers_.emplace(node.get(), numbers_.size());
  number_width_ = 1 + std::to_string(nodes.size() - 1).size();
  for (const auto& node : nodes) widen_columns(*node);
  const Node& output = *nodes.back();
  trace_line("backward from " + short_label(output) + " made at " + str(output.location) + ": " +
             std::to_string(numbers_.size()) + " nodes, with the norms of their gradients");
  trace_line(columns("#", "op", "name", "shape", "gradient") +
             pad_right("passes to", passed_width_) + "  made at");
}

void Table::widen_columns(const Node& node) {
  std::size_t width = 0;
  for (const auto& input : node.inputs)  // an input is printed as "#12 x (2) 1.235e-05"
    if (input != nullptr && input->requires_grad)
      width += (width == 0 ? 0 : 2) + number_width_ + display_width(short_label(*input)) +
               norm_width + 2;
  op_width_ = std::max(op_width_, node.op.size());
  name_width_ = std::max(name_width_, display_width(node.name));
  shape_width_ = std::max(shape_width_, str(node.value.shape()).size());
  if (width <= max_passed_width) passed_width_ = std::max(passed_width_, width);
}

std::string Table::columns(const std::string& number, std::string_view op, const std::string& name,
                           const std::string& shape, const std::string& gradient) const {
  return pad_left(number, number_width_) + "  " + pad_right(op, op_width_) + "  " +
         pad_right(name, name_width_) + "  " + pad_right(shape, shape_width_) + "  " +
         pad_left(gradient, norm_width) + "  ";
}

// The node's number, such as "#12", or "#?" for a node outside the graph of this backward pass.
std::string Table::number_of(const Node& node) const {
  const auto found = numbers_.find(&node);
  return "#" + (found == numbers_.end() ? "?" : std::to_string(found->second));
}

void Table::begin_line(const Node& node) {
  end_line();
  line_ = columns(number_of(node), node.op, node.name, str(node.value.shape()), norm(node.grad));
  location_ = str(node.location);
}

void Table::add(const Node& input, const Array& part) {
  passed_ += (passed_.empty() ? "" : ", ") + number_of(input) + " " + short_label(input) + " " +
             norm(part);
}

void Table::end_line() {
  if (!line_.empty()) trace_line(line_ + pad_right(passed_, passed_width_) + "  " + location_);
  line_.clear();
  passed_.clear();
}

// The tables of the backward passes that run on this thread, the innermost last.
thread_local std::vector<Table> tables;

}  // namespace

void BackwardTable::begin_pass(const NodeList& nodes) { tables.emplace_back(nodes); }

void BackwardTable::end_pass() {
  if (tables.empty()) return;
  tables.back().end_line();
  tables.pop_back();
}

void BackwardTable::visit(const Node& node) {
  if (!tables.empty()) tables.back().begin_line(node);
}

void BackwardTable::add(const Node& from, std::size_t i, const Array& part) {
  if (!tables.empty()) tables.back().add(*from.inputs[i], part);
}

}  // namespace HEED_NAMESPACE
