// nan_check.cpp: HEED_TRACE=nan, which throws at the first value or gradient that is not finite.

#include "heed/debug/nan_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "array/reduce.hpp"
#include "debug/labels.hpp"

namespace HEED_NAMESPACE {

constexpr Real minus_infinity = -std::numeric_limits<Real>::infinity();

// Returns a pointer to the first element that is not finite, or to the end of the data.
static const Real* first_nonfinite(const Array& x, bool allow_minus_infinity = false) {
  return std::find_if(x.data(), x.data() + x.size(), [=](Real v) {
    return !std::isfinite(v) && !(allow_minus_infinity && v == minus_infinity);
  });
}

static bool has_minus_infinity(const std::shared_ptr<Node>& input) {
  if (input == nullptr) return false;
  const Array& x = input->value;
  return std::find(x.data(), x.data() + x.size(), minus_infinity) != x.data() + x.size();
}

// Returns the value and its index, such as "nan at (0, 2)".
static std::string element_text(const Array& x, const Real* at) {
  const std::string value = std::isnan(*at) ? "nan" : *at < 0 ? "-inf" : "inf";
  const auto element = static_cast<std::size_t>(at - x.data());
  return x.dimension() == 0 ? value : value + " at " + index_text(x.shape(), element);
}

// Returns, for example, "its inputs: a (3, 3) with nan at (0, 2), made at my.cpp:12; v (3, 4)".
static std::string inputs_text(const NodeList& inputs) {
  if (inputs.empty()) return "none of its inputs is a tensor";
  std::string text, ending = "; all finite";
  for (const auto& input : inputs) {
    if (input == nullptr) continue;
    text += (text.empty() ? "its inputs: " : "; ") + short_label(*input);
    if (all_finite(input->value)) continue;
    ending = "";
    text += " with " + element_text(input->value, first_nonfinite(input->value)) + ", made at " +
            str(input->location);
  }
  return text + ending;
}

void NanCheck::computed(std::string_view op, bool writes_infinity, SourceLocation location,
                        const Array& value, const NodeList& inputs) {
  if (all_finite(value)) return;
  const bool allowed =
      writes_infinity || std::any_of(inputs.begin(), inputs.end(), has_minus_infinity);
  const Real* const element = first_nonfinite(value, allowed);
  if (element == value.data() + value.size()) return;
  throw NonFinite(origin(op, "", value.shape(), location) + " has " + element_text(value, element) +
                  "; " + inputs_text(inputs));
}

// The output of the backward pass that has begun on this thread, until its backward.
static thread_local const Node* begun_output = nullptr;

void NanCheck::begin_pass(const NodeList& nodes) { begun_output = nodes.back().get(); }

void NanCheck::visit(const Node& node) {
  const bool is_output = std::exchange(begun_output, nullptr) == &node;
  if (all_finite(node.grad)) return;
  throw NonFinite(origin(node) + " has a gradient with " +
                  element_text(node.grad, first_nonfinite(node.grad)) +
                  (is_output ? ", as given to backward" : ", the sum of its contributions"));
}

void NanCheck::add(const Node& from, std::size_t i, const Array& part) {
  if (all_finite(part)) return;
  throw NonFinite(origin(from) + " has a finite gradient and passes " +
                  short_label(*from.inputs[i]) + " one with " +
                  element_text(part, first_nonfinite(part)) + "; " + inputs_text(from.inputs));
}

}  // namespace HEED_NAMESPACE
