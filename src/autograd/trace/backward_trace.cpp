// backward_trace.cpp: HEED_TRACE=backward, which writes a line for every node of a backward pass.

#include "autograd/trace/backward_trace.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <unordered_map>
#include <utility>

#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr std::size_t norm_width = 9;  // "1.235e-05"
// Longer cells push the rest of their line to the right.
constexpr std::size_t max_passed_width = 90;

// The L2 norm to four digits.
std::string norm(const Array& x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", std::abs(l2_norm(x)));  // NaN without a sign
  return text;
}

}  // namespace

// Stores only the addresses of nodes, so that it does not keep them alive.
class BackwardTracer {
 public:
  explicit BackwardTracer(const std::vector<std::shared_ptr<Node>>& nodes);
  void begin_node(const Node& node);
  void add(const Node& input, const Array& part);
  void end_node();
  bool checks_nan() const { return checks_nan_; }

 private:
  std::string number_of(const Node& node) const {
    const auto found = numbers_.find(&node);
    return found == numbers_.end() ? "" : "#" + std::to_string(found->second);
  }
  void widen_columns(const Node& node);
  std::string columns(const std::string& number, std::string_view op, const std::string& name,
                      const std::string& shape, const std::string& gradient) const;

  bool writes_ = trace_enabled(TraceOption::backward);
  bool checks_nan_ = trace_enabled(TraceOption::nan), at_output_ = true;
  std::unordered_map<const Node*, std::size_t> numbers_;  // positions in topological_order()
  std::size_t number_width_ = 0, op_width_ = 2, name_width_ = 4, shape_width_ = 5;
  std::size_t passed_width_ = 8;
  std::string line_, passed_, location_;  // of the node whose backward runs
};

// The tracer of the backward pass that runs on this thread.
static thread_local BackwardTracer* current = nullptr;

BackwardTracer::BackwardTracer(const std::vector<std::shared_ptr<Node>>& nodes) {
  if (!writes_) return;
  for (const auto& node : nodes) numbers_.emplace(node.get(), numbers_.size());
  number_width_ = 1 + std::to_string(nodes.size() - 1).size();
  for (const auto& node : nodes) widen_columns(*node);
  const Node& output = *nodes.back();
  trace_line("backward from " + short_label(output) + " made at " + str(output.location) + ": " +
             std::to_string(numbers_.size()) + " nodes, with the norms of their gradients");
  trace_line(columns("#", "op", "name", "shape", "gradient") +
             pad_right("passes to", passed_width_) + "  made at");
}

void BackwardTracer::widen_columns(const Node& node) {
  std::size_t width = 0;
  for (const auto& input : node.inputs)
    if (input != nullptr && input->requires_grad)  // "#12 x (2, 3) 1.235e-05", ", " between two
      width += (width == 0 ? 0 : 2) + number_width_ + display_width(short_label(*input)) +
               norm_width + 2;
  op_width_ = std::max(op_width_, node.op.size());
  name_width_ = std::max(name_width_, display_width(node.name));
  shape_width_ = std::max(shape_width_, str(node.value.shape()).size());
  if (width <= max_passed_width) passed_width_ = std::max(passed_width_, width);
}

std::string BackwardTracer::columns(const std::string& number, std::string_view op,
                                    const std::string& name, const std::string& shape,
                                    const std::string& gradient) const {
  return pad_left(number, number_width_) + "  " + pad_right(op, op_width_) + "  " +
         pad_right(name, name_width_) + "  " + pad_right(shape, shape_width_) + "  " +
         pad_left(gradient, norm_width) + "  ";
}

void BackwardTracer::begin_node(const Node& node) {
  end_node();
  if (writes_) {
    line_ = columns(number_of(node), node.op, node.name, str(node.value.shape()), norm(node.grad));
    location_ = str(node.location);
  }
  if (checks_nan_) check_gradient(node, at_output_);
  at_output_ = false;
}

void BackwardTracer::add(const Node& input, const Array& part) {
  if (!writes_) return;
  passed_ += (passed_.empty() ? "" : ", ") + number_of(input) + " " + short_label(input) + " " +
             norm(part);
}

void BackwardTracer::end_node() {
  if (!line_.empty()) trace_line(line_ + pad_right(passed_, passed_width_) + "  " + location_);
  line_.clear();
  passed_.clear();
}

BackwardTrace::BackwardTrace(const std::vector<std::shared_ptr<Node>>& nodes, bool provenance)
    : provenance_(provenance || trace_enabled(TraceOption::provenance)) {
  count_backward_pass();
  if (!trace_enabled(TraceOption::backward) && !trace_enabled(TraceOption::nan)) return;
  tracer_ = std::make_unique<BackwardTracer>(nodes);
  outer_ = std::exchange(current, tracer_.get());
}

BackwardTrace::~BackwardTrace() {
  if (tracer_ == nullptr) return;
  tracer_->end_node();
  current = outer_;
}

OperationTimer BackwardTrace::visit(const Node& node) {
  if (tracer_ != nullptr) tracer_->begin_node(node);
  return OperationTimer(node.op, Phase::backward);
}

void trace_contribution(const Node& from, std::size_t i, const Array& part) {
  record_contribution(from, i, part);
  if (current == nullptr) return;
  current->add(*from.inputs[i], part);
  if (current->checks_nan()) check_contribution(from, i, part);
}

}  // namespace HEED_NAMESPACE
