// nan_check.cpp: HEED_TRACE=nan, which stops where the first value that is not finite is made.

#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/trace/backward_trace.hpp"
#include "heed/base/error.hpp"

namespace heed {
namespace {

constexpr Real hidden = -std::numeric_limits<Real>::infinity();
constexpr std::string_view hiding_op = "MaskedFill";  // the only one this floor knows by name

// The first element that counts, or the end.
const Real* first_nonfinite(const Array& x, bool may_hide = false) {
  return std::find_if(x.data(), x.data() + x.size(), [may_hide](Real v) {
    return !std::isfinite(v) && !(may_hide && v == hidden);
  });
}

bool is_clean(const Array& x) { return first_nonfinite(x) == x.data() + x.size(); }

bool holds_hidden(const std::shared_ptr<Node>& input) {
  if (input == nullptr) return false;
  const Array& x = input->value;
  return std::find(x.data(), x.data() + x.size(), hidden) != x.data() + x.size();
}

// "nan at (0, 2)"
std::string element(const Array& x, const Real* at) {
  const std::string value = std::isnan(*at) ? "nan" : *at < 0 ? "-inf" : "inf";
  auto flat = static_cast<std::size_t>(at - x.data());
  Shape place = x.shape();
  for (std::size_t axis = place.size(); axis-- > 0; flat /= x.shape()[axis])
    place[axis] = flat % x.shape()[axis];
  return place.empty() ? value : value + " at " + str(place);
}

// "MatMul 'V' (3, 4) made at lessons/05_query_key_value.cpp:41"
std::string origin(std::string_view op, const std::string& name, const Shape& shape,
                   SourceLocation location) {
  return std::string(op) + (name.empty() ? " " : " '" + name + "' ") + str(shape) + " made at " +
         str(location);
}

std::string origin(const Node& node) {
  return origin(node.op, node.name, node.value.shape(), node.location);
}

// "its inputs: A (3, 3) with nan at (0, 2), made at lessons/my.cpp:12; V (3, 4)"
std::string state_of(const std::vector<std::shared_ptr<Node>>& inputs) {
  std::string text;
  bool clean = true;
  for (const auto& input : inputs) {
    if (input == nullptr) continue;
    text += (text.empty() ? "its inputs: " : "; ") + short_label(*input);
    if (is_clean(input->value)) continue;
    clean = false;
    text += " with " + element(input->value, first_nonfinite(input->value)) + ", made at " +
            str(input->location);
  }
  return text + (clean ? "; all finite" : "");
}

}  // namespace

void trace_value(std::string_view op, SourceLocation location, const Array& value,
                 const std::vector<std::shared_ptr<Node>>& inputs) {
  if (!trace_enabled(TraceOption::nan) || is_clean(value)) return;
  const bool may_hide = op == hiding_op || std::any_of(inputs.begin(), inputs.end(), holds_hidden);
  const Real* const bad = first_nonfinite(value, may_hide);
  if (bad == value.data() + value.size()) return;
  throw_error("HEED_TRACE=nan: ", origin(op, "", value.shape(), location), " has ",
              element(value, bad), "; ", state_of(inputs));
}

void check_part(const Node& from, std::size_t i, const Array& part) {
  if (is_clean(part)) return;
  throw_error("HEED_TRACE=nan: ", origin(from), " got a finite gradient and sends ",
              short_label(*from.inputs[i]), " one with ", element(part, first_nonfinite(part)),
              "; ", state_of(from.inputs));
}

void check_arrived(const Node& node, bool is_output) {
  if (is_clean(node.grad)) return;
  throw_error("HEED_TRACE=nan: ", origin(node), " gets a gradient with ",
              element(node.grad, first_nonfinite(node.grad)),
              is_output ? ", as given to backward" : ", the sum of what was sent to it");
}

}  // namespace heed
