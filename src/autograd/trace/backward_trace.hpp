// backward_trace.hpp: the HEED_TRACE options of a backward pass: backward, nan, provenance, check.
#pragma once

#include <string>
#include <unordered_map>

#include "heed/autograd/trace/trace.hpp"

namespace HEED_NAMESPACE {

// Traces one backward pass through `nodes`, the last of which is the output. A node's line is
// written when the pass reaches the next node or ends, even if an exception ends the pass.
class BackwardTrace {
 public:
  BackwardTrace(const NodeList& nodes, bool provenance);
  ~BackwardTrace();
  BackwardTrace(const BackwardTrace&) = delete;
  BackwardTrace& operator=(const BackwardTrace&) = delete;

  // Must be called before the backward of `node`. The returned timer measures this backward.
  OperationTimer visit(const Node& node);

  // Must be called when the backward of `from` adds `part` to the gradient of input i of `from`.
  void add(const Node& from, std::size_t i, const Array& part);

 private:
  void begin_table(const NodeList& nodes);
  void widen_columns(const Node& node);
  std::string columns(const std::string& number, std::string_view op, const std::string& name,
                      const std::string& shape, const std::string& gradient) const;
  std::string number_of(const Node& node) const;
  void write_line();

  bool provenance_;
  bool writes_ = trace_enabled(TraceOption::backward);
  bool checks_gradients_ = trace_enabled(TraceOption::check);
  bool checks_nan_ = trace_enabled(TraceOption::nan), at_output_ = true;
  BackwardTrace* outer_ = nullptr;  // the trace of the enclosing backward pass, if any
  // Each node's index in topological_order(). The raw pointers do not keep the nodes alive.
  std::unordered_map<const Node*, std::size_t> numbers_;
  std::size_t number_width_ = 0, op_width_ = 2, name_width_ = 4, shape_width_ = 5;
  std::size_t passed_width_ = 8;
  std::string line_, passed_, location_;  // table row of the node whose backward is running
};

// Calls BackwardTrace::add for the backward pass that runs on this thread, if any.
void trace_contribution(const Node& from, std::size_t i, const Array& part);

// check_contribution() and check_gradient() throw NonFinite if the gradient is not finite, even if
// TraceOption::nan is off.
void check_contribution(const Node& from, std::size_t i, const Array& part);
void check_gradient(const Node& node, bool is_output);

// Compares the gradients that the backward of `node` returns with central differences of its
// forward: of each input, up to 64 elements, the largest gradients among them. Without an upstream
// gradient, a random one is used. Returns a line for each input; `differs` is the first line with
// an element outside the tolerance, or "".
struct NodeCheck {
  std::vector<std::string> lines;
  std::string differs;
  std::size_t compared = 0;  // elements of all inputs; the others are where the node is not finite
};
NodeCheck check_node(const Node& node);

// Throws Error if check_node() finds a difference.
void check_backward(const Node& node);

// The verdict ("right", "wrong" or "not compared") and the lines of check_node(), for a debugger.
// The text is valid until the next call.
const char* check_text(const Node* node);

void trace_line(const std::string& line);

// A node's name and shape, "V (3, 4)", or its operation and shape if unnamed, "MatMul (3, 4)".
std::string short_label(const Node& node);

}  // namespace HEED_NAMESPACE
