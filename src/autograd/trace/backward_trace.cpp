// backward_trace.cpp: the trace of a backward pass: a line for every node (HEED_TRACE=backward) and
// a record of the terms of each gradient (HEED_TRACE=provenance).

#include "autograd/trace/backward_trace.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "array/lines.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {

constexpr std::size_t norm_width = 9;  // "1.235e-05"
// Maximum width of the column "passes to" (a node's inputs). Wider cells shift the next cells.
constexpr std::size_t max_passed_width = 90;

// The trace of the backward pass that runs on this thread.
static thread_local BackwardTrace* current = nullptr;

static double l2_norm(const Array& x) { return std::sqrt(dot_of(x.data(), x.data(), x.size())); }

// The L2 norm with four significant digits.
static std::string norm(const Array& x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", std::abs(l2_norm(x)));  // no "-nan"
  return text;
}

BackwardTrace::BackwardTrace(const NodeList& nodes, bool provenance)
    : provenance_(provenance || trace_enabled(TraceOption::provenance)) {
  count_backward_pass();
  if (writes_) begin_table(nodes);
  outer_ = std::exchange(current, this);
}

BackwardTrace::~BackwardTrace() {
  write_line();
  current = outer_;
}

void BackwardTrace::begin_table(const NodeList& nodes) {
  for (const auto& node : nodes) numbers_.emplace(node.get(), numbers_.size());
  number_width_ = 1 + std::to_string(nodes.size() - 1).size();
  for (const auto& node : nodes) widen_columns(*node);
  const Node& output = *nodes.back();
  trace_line("backward from " + short_label(output) + " made at " + str(output.location) + ": " +
             std::to_string(numbers_.size()) + " nodes, with the norms of their gradients");
  trace_line(columns("#", "op", "name", "shape", "gradient") +
             pad_right("passes to", passed_width_) + "  made at");
}

void BackwardTrace::widen_columns(const Node& node) {
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

std::string BackwardTrace::columns(const std::string& number, std::string_view op,
                                   const std::string& name, const std::string& shape,
                                   const std::string& gradient) const {
  return pad_left(number, number_width_) + "  " + pad_right(op, op_width_) + "  " +
         pad_right(name, name_width_) + "  " + pad_right(shape, shape_width_) + "  " +
         pad_left(gradient, norm_width) + "  ";
}

// The node's number, such as "#12", or "#?" for a node outside the graph of this backward pass.
std::string BackwardTrace::number_of(const Node& node) const {
  const auto found = numbers_.find(&node);
  return "#" + (found == numbers_.end() ? "?" : std::to_string(found->second));
}

OperationTimer BackwardTrace::visit(const Node& node) {
  write_line();
  if (writes_) {
    line_ = columns(number_of(node), node.op, node.name, str(node.value.shape()), norm(node.grad));
    location_ = str(node.location);
  }
  if (checks_nan_) check_gradient(node, at_output_);
  if (checks_gradients_) check_backward(node);
  at_output_ = false;
  return OperationTimer(node.op, Phase::backward);
}

void BackwardTrace::add(const Node& from, std::size_t i, const Array& part) {
  Node& input = *from.inputs[i];
  if (provenance_)
    input.contributions.push_back({std::string(from.op), from.name, from.location, l2_norm(part)});
  if (writes_)
    passed_ += (passed_.empty() ? "" : ", ") + number_of(input) + " " + short_label(input) + " " +
               norm(part);
  if (checks_nan_) check_contribution(from, i, part);
}

void BackwardTrace::write_line() {
  if (!line_.empty()) trace_line(line_ + pad_right(passed_, passed_width_) + "  " + location_);
  line_.clear();
  passed_.clear();
}

void trace_contribution(const Node& from, std::size_t i, const Array& part) {
  if (current != nullptr) current->add(from, i, part);
}

}  // namespace HEED_NAMESPACE
