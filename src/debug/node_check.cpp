// node_check.cpp: compares the gradients that the backward of a node returns with central
// differences of its forward.

#include "debug/node_check.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <sstream>

#include "debug/change.hpp"
#include "debug/labels.hpp"
#include "debug/preserved_gradients.hpp"
#include "heed/array/random.hpp"
#include "heed/autograd/record.hpp"
#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr bool in_double = sizeof(Real) == sizeof(double);
constexpr std::size_t max_elements = 64;
constexpr double relative_tolerance = in_double ? 1e-6 : 5e-3;
// The tolerance of an element also has this fraction of the input's largest gradient: rounding in
// the forward of one element depends on the others.
constexpr double floor_tolerance = in_double ? 1e-8 : 1e-3;
// backward itself rounds, too: a gradient may be the difference of numbers as large as the upstream
// gradient.
constexpr double epsilon = std::numeric_limits<Real>::epsilon(), roundings = 32;
// The smaller step is for elements near a kink, such as the zero of ReLU. The last one is for
// elements near the end of a domain, where the results of the others are not finite.
constexpr double steps[] = {in_double ? 1e-4 : 1e-2, in_double ? 1e-6 : 1e-3,
                            in_double ? 1e-8 : 1e-5};

// The change of the result, from the elements that depend on the changed input: the others have no
// rounding error. An infinity that stays is the score of a masked key.
Change change_of(const Array& a, const Array& b, const Array& dy,
                 const std::vector<bool>& depends) {
  return change_of(a, b, dy, [&](std::size_t i, double above, double below) {
    return above != below || (depends[i] && !std::isinf(above));
  });
}

// Whether each element differs in a and b.
std::vector<bool> differences(const Array& a, const Array& b) {
  std::vector<bool> result(a.size());
  std::transform(a.data(), a.data() + a.size(), b.data(), result.begin(), std::not_equal_to<>());
  return result;
}

// An estimate of a derivative by central differences with the steps h and h/2, extrapolated to h =
// 0 (Richardson), so that its error is of order h^4.
struct Estimate {
  double derivative = 0;
  double error = std::numeric_limits<double>::infinity();  // a bound on the error
  // The gradient must lie in [low, high]: at a kink, between the left and the right derivative.
  double low = 0, high = 0;
};

double largest(const Array& x) {
  double result = 0;
  for (const Real v : x)
    if (std::isfinite(v)) result = std::max(result, std::abs(static_cast<double>(v)));
  return result;
}

// Central differences of one input of a node.
class InputCheck {
 public:
  InputCheck(const Node& node, std::size_t k, const Array& dy, const Array& returned)
      : node_(node),
        k_(k),
        dy_(dy),
        returned_(returned),
        x_(node.inputs[k]->value),
        values_(input_values(node.inputs)) {
    values_[k] = x_;
    floor_ = floor_tolerance * largest(returned_) + roundings * epsilon * largest(dy_) +
             static_cast<double>(std::numeric_limits<Real>::min());
  }

  // Compares up to max_elements elements.
  void run() {
    y_ = node_.forward_of(values_);
    for (const std::size_t i : chosen_elements()) compare(i);
  }
  bool ok() const { return worst_ratio_ <= 1; }
  std::size_t compared() const { return compared_; }
  std::string text() const;

 private:
  std::vector<std::size_t> chosen_elements() const;
  void compare(std::size_t i);
  Estimate estimate(std::size_t i, double step, const std::vector<bool>& depends);
  Array forward_at(std::size_t i, Real value);

  const Node& node_;
  std::size_t k_;
  const Array &dy_, &returned_;
  Array x_;  // a copy of the input's value, in which one element at a time is changed
  ArrayList values_;
  Array y_ = undefined_array();  // the result of the forward for the unchanged input
  double floor_ = 0, worst_ratio_ = -1, worst_measured_ = 0;
  std::size_t worst_ = 0, compared_ = 0;
};

// All elements of a small input; of a larger one, half with the largest gradients, half evenly
// spaced.
std::vector<std::size_t> InputCheck::chosen_elements() const {
  std::vector<std::size_t> all(x_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (all.size() <= max_elements) return all;
  const std::size_t half = max_elements / 2, stride = all.size() / half;
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < half; ++i) chosen.push_back(i * stride);
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(half);
  std::partial_sort(all.begin(), middle, all.end(), [this](std::size_t a, std::size_t b) {
    return std::abs(returned_.data()[a]) > std::abs(returned_.data()[b]);
  });
  chosen.insert(chosen.end(), all.begin(), middle);
  return chosen;
}

Array InputCheck::forward_at(std::size_t i, Real value) {
  const Real center = std::exchange(x_.data()[i], value);
  Array y = node_.forward_of(values_);
  x_.data()[i] = center;
  return y;
}

// The derivatives from the left, from both sides, and from the right, and the bound of the rounding
// error of the second one.
struct Slopes {
  double left, central, right, rounding;
  double gap() const { return std::abs(right - left); }
};

Estimate InputCheck::estimate(std::size_t i, double step, const std::vector<bool>& depends) {
  const Real center = x_.data()[i];
  const auto slopes = [&](double h) {
    const Real above = static_cast<Real>(center + h), below = static_cast<Real>(center - h);
    const double up = static_cast<double>(above) - center,
                 down = static_cast<double>(center) - below;
    const Array y_above = forward_at(i, above), y_below = forward_at(i, below);
    const Change whole = change_of(y_above, y_below, dy_, depends);
    return Slopes{change_of(y_, y_below, dy_, depends).value / down, whole.value / (up + down),
                  change_of(y_above, y_, dy_, depends).value / up, whole.rounding / (up + down)};
  };
  const double h = step * std::max(1.0, std::abs(static_cast<double>(center)));
  const Slopes wide = slopes(h), narrow = slopes(h / 2);
  Estimate result;
  result.derivative = (4 * narrow.central - wide.central) / 3;
  if (!std::isfinite(result.derivative)) return result;
  result.error = 1.5 * std::abs(narrow.central - wide.central) + 2 * narrow.rounding;
  // The difference of the one-sided derivatives is proportional to h, except at a kink.
  const bool kink = narrow.gap() > 0.6 * wide.gap();
  const auto [low, high] = std::minmax({result.derivative, kink ? narrow.left : result.derivative,
                                        kink ? narrow.right : result.derivative});
  result.low = low;
  result.high = high;
  return result;
}

void InputCheck::compare(std::size_t i) {
  const Real center = x_.data()[i], far = center + std::max(Real{1}, std::abs(center)) / 2;
  const std::vector<bool> depends = differences(forward_at(i, far), y_);
  Estimate best = estimate(i, steps[0], depends);
  if (const Estimate other = estimate(i, steps[1], depends); other.error < best.error) best = other;
  if (!std::isfinite(best.error)) best = estimate(i, steps[2], depends);
  if (!std::isfinite(best.error)) return;  // the function is not finite here: nothing to compare
  ++compared_;
  const double got = returned_.data()[i];
  const double tolerance =
      relative_tolerance * std::max(std::abs(got), std::abs(best.derivative)) + floor_ + best.error;
  double ratio = std::max({best.low - got, got - best.high, 0.0}) / tolerance;
  if (!std::isfinite(got)) ratio = std::numeric_limits<double>::infinity();  // the largest error
  if (ratio <= 1) ratio = std::min(1.0, std::abs(got - best.derivative) / tolerance);
  if (ratio <= worst_ratio_) return;
  worst_ratio_ = ratio;
  worst_ = i;
  worst_measured_ = best.derivative;
}

std::string InputCheck::text() const {
  const std::string label =
      "input " + std::to_string(k_) + ", " + short_label(*node_.inputs[k_]) + ": ";
  if (x_.size() == 0) return label + "no elements";
  std::ostringstream text;
  text << label;
  if (compared_ == 0)
    return text.str() + "nothing was compared, because " + std::string(node_.op) +
           " is not finite here";
  text << (ok() ? "agrees with" : "differs from") << " central differences (" << compared_;
  if (compared_ < x_.size()) text << " of " << x_.size();
  text << " elements compared); worst"
       << (x_.dimension() == 0 ? "" : " at " + index_text(x_.shape(), worst_)) << ": backward "
       << returned_.data()[worst_] << ", measured " << worst_measured_;
  return text.str();
}

std::string shape_line(const Node& node, std::size_t k, const Array& returned) {
  return "input " + std::to_string(k) + ", " + short_label(*node.inputs[k]) +
         ": backward returns the shape " + str(returned.shape());
}

}  // namespace

NodeCheck check_node(const Node& node) {
  const PreservedGradients gradients;  // the backward of an operation may run another backward pass
  const Array dy =
      node.has_grad ? node.grad : Generator(1).uniform(node.value.shape(), Real{-1}, Real{1});
  const std::vector<Array> returned = node.backward_of(dy);
  check_number_of_gradients(node, returned.size());
  NodeCheck result;
  for (std::size_t k = 0; k < node.inputs.size(); ++k) {
    if (node.inputs[k] == nullptr || !node.inputs[k]->requires_grad) continue;
    const bool same_shape = returned[k].shape() == node.inputs[k]->value.shape();
    InputCheck check(node, k, dy, returned[k]);
    if (same_shape) check.run();
    result.compared += check.compared();
    result.lines.push_back(same_shape ? check.text() : shape_line(node, k, returned[k]));
    if (result.differs.empty() && !(same_shape && check.ok())) result.differs = result.lines.back();
  }
  return result;
}

void GradientCheck::visit(const Node& node) {
  if (node.inputs.empty()) return;
  const NodeCheck check = check_node(node);
  if (!check.differs.empty())
    throw_error("HEED_TRACE=check: the gradient of ", origin(node), " is wrong: ", check.differs);
}

const char* check_text(const Node* node) {
  static std::string text;
  text.clear();
  try {
    const NodeCheck check = check_node(*node);
    text = !check.differs.empty() ? "wrong" : check.compared == 0 ? "not compared" : "right";
    for (const std::string& line : check.lines) text += '\n' + line;
    if (!in_double)
      text +=
          "\nin float, errors below 2 % may not be seen; to check in double, use ./heed debug "
          "--double for lessons and exercises, and heed::heed_double for other programs";
  } catch (const std::exception& error) {
    text = error.what();
  }
  return text.c_str();
}

}  // namespace HEED_NAMESPACE
