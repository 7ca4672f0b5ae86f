// backward_trace.cpp: HEED_TRACE=backward, which writes a line for every node a pass comes by.

#include "autograd/trace/backward_trace.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <unordered_map>
#include <utility>

#include "heed/array/lines.hpp"

namespace heed {
namespace {

constexpr std::size_t norm_width = 9;    // "1.235e-05"
constexpr std::size_t widest_sent = 90;  // a wider cell pushes the rest of its line aside

// Characters, not bytes: a name may be in any language.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

std::string left(std::string text, std::size_t columns) {
  return text.append(columns - std::min(columns, width(text)), ' ');
}

std::string right(const std::string& text, std::size_t columns) {
  return std::string(columns - std::min(columns, width(text)), ' ') + text;
}

// The length of x as one vector, to four digits.
std::string norm(const Array& x) {
  const double length = std::sqrt(dot_of(x.data(), x.data(), x.size()));
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", std::abs(length));  // NaN without a sign
  return text;
}

}  // namespace

// Knows nodes by their address only, so that they are freed when they would be without it.
struct TracedPass {
  explicit TracedPass(const std::vector<std::shared_ptr<Node>>& nodes);
  void begin(const Node& node);
  void add(const Node& input, const Array& part);
  void end();

  std::string numbered(const Node& node) const {
    const auto found = numbers.find(&node);
    return found == numbers.end() ? "" : "#" + std::to_string(found->second);
  }
  void measure(const Node& node);
  void tell_title(const Node& output) const;
  std::string columns(const std::string& number, std::string_view op, const std::string& name,
                      const std::string& shape, const std::string& arrived) const;

  bool tells = trace_enabled(TraceOption::backward), checks = trace_enabled(TraceOption::nan),
       at_output = true;
  std::unordered_map<const Node*, std::size_t> numbers;  // places in topological_order()
  std::size_t number_width = 0, op_width = 2, name_width = 4, shape_width = 5, sent_width = 8;
  std::string line, sent, location;  // of the node that is sending
};

// The pass that is under way in this thread.
static thread_local TracedPass* current = nullptr;

TracedPass::TracedPass(const std::vector<std::shared_ptr<Node>>& nodes) {
  if (!tells) return;
  for (const auto& node : nodes) numbers.emplace(node.get(), numbers.size());
  number_width = 1 + std::to_string(nodes.size() - 1).size();
  for (const auto& node : nodes) measure(*node);
  tell_title(*nodes.back());
}

// Columns as wide as the widest of their cells is going to be.
void TracedPass::measure(const Node& node) {
  std::size_t wide = 0;
  for (const auto& input : node.inputs)
    if (input != nullptr && input->requires_grad)  // "#12 x (2, 3) 1.235e-05", ", " between two
      wide += (wide == 0 ? 0 : 2) + number_width + width(short_label(*input)) + norm_width + 2;
  op_width = std::max(op_width, node.op.size());
  name_width = std::max(name_width, width(node.name));
  shape_width = std::max(shape_width, str(node.value.shape()).size());
  if (wide <= widest_sent) sent_width = std::max(sent_width, wide);
}

void TracedPass::tell_title(const Node& output) const {
  tell("backward from " + short_label(output) + " made at " + str(output.location) + ": " +
       std::to_string(numbers.size()) + " nodes, with the norms of their gradients");
  tell(columns("#", "op", "name", "shape", "arrives") + left("sends to", sent_width) + "  made at");
}

std::string TracedPass::columns(const std::string& number, std::string_view op,
                                const std::string& name, const std::string& shape,
                                const std::string& arrived) const {
  return right(number, number_width) + "  " + left(std::string(op), op_width) + "  " +
         left(name, name_width) + "  " + left(shape, shape_width) + "  " +
         right(arrived, norm_width) + "  ";
}

void TracedPass::begin(const Node& node) {
  end();
  if (tells) {
    line = columns(numbered(node), node.op, node.name, str(node.value.shape()), norm(node.grad));
    location = str(node.location);
  }
  if (checks) check_arrived(node, at_output);
  at_output = false;
}

void TracedPass::add(const Node& input, const Array& part) {
  if (!tells) return;
  sent +=
      (sent.empty() ? "" : ", ") + numbered(input) + " " + short_label(input) + " " + norm(part);
}

void TracedPass::end() {
  if (!line.empty()) tell(line + left(sent, sent_width) + "  " + location);
  line.clear();
  sent.clear();
}

BackwardTrace::BackwardTrace(const std::vector<std::shared_ptr<Node>>& nodes) {
  if (!trace_enabled(TraceOption::backward) && !trace_enabled(TraceOption::nan)) return;
  pass_ = std::make_unique<TracedPass>(nodes);
  outer_ = std::exchange(current, pass_.get());
}

BackwardTrace::~BackwardTrace() {
  if (pass_ == nullptr) return;
  pass_->end();
  current = outer_;
}

void BackwardTrace::look_at(const Node& node) { pass_->begin(node); }

void trace_part(const Node& from, std::size_t i, const Array& part) {
  if (current == nullptr) return;
  current->add(*from.inputs[i], part);
  if (current->checks) check_part(from, i, part);
}

}  // namespace heed
