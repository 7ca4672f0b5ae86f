// node_check.cpp: HEED_TRACE=check, which compares the gradients that the backward of a node
// returns with central differences of its forward.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>

#include "autograd/trace/backward_trace.hpp"
#include "heed/array/random.hpp"
#include "heed/autograd/record.hpp"
#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr bool in_double = sizeof(Real) == sizeof(double);
constexpr std::size_t max_elements = 64;
constexpr double relative_tolerance = in_double ? 1e-5 : 2e-2;
// The tolerance of an element also has this fraction of the input's largest gradient: the step's
// error in one element depends on the others.
constexpr double floor_tolerance = in_double ? 1e-7 : 1e-3;
// The second step is for elements near a kink, such as the zero of ReLU, or the end of a domain.
constexpr double steps[] = {in_double ? 1e-5 : 1e-2, in_double ? 1e-7 : 1e-3};

struct Change {
  double value = 0, rounding = 0;
};

// sum_i (a_i - b_i) dy_i, and the rounding error of the a_i and b_i in it.
Change change_of(const Array& a, const Array& b, const Array& dy) {
  Change sum;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double above = a.data()[i], below = b.data()[i], factor = dy.data()[i];
    if (above == below) continue;  // also if both are minus infinity, the score of a masked key
    sum.value += (above - below) * factor;
    sum.rounding += (std::abs(above) + std::abs(below)) * std::abs(factor) *
                    static_cast<double>(std::numeric_limits<Real>::epsilon());
  }
  return sum;
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
    for (const Real v : returned_)
      if (std::isfinite(v)) largest_ = std::max(largest_, std::abs(static_cast<double>(v)));
  }

  // Compares up to max_elements elements.
  void run() {
    for (const std::size_t i : chosen_elements()) compare(i);
  }
  bool ok() const { return worst_ratio_ <= 1; }
  std::string text() const;

 private:
  std::vector<std::size_t> chosen_elements() const;
  void compare(std::size_t i);
  double ratio_at(std::size_t i, double step, double& central);
  Array forward_at(std::size_t i, Real value);

  const Node& node_;
  std::size_t k_;
  const Array &dy_, &returned_;
  Array x_;  // a copy of the input's value, in which one element at a time is changed
  ArrayList values_;
  double largest_ = 0, worst_ratio_ = -1, worst_measured_ = 0;
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

// Returns the ratio of the error of element i to its tolerance, and sets `central` to the central
// difference. Any gradient between the left and the right derivative counts as right: at a kink,
// the two differ.
double InputCheck::ratio_at(std::size_t i, double step, double& central) {
  const Real center = x_.data()[i];
  const double h = step * std::max(1.0, std::abs(static_cast<double>(center)));
  const Real right = static_cast<Real>(center + h), left = static_cast<Real>(center - h);
  const double above = static_cast<double>(right) - center;
  const double below = static_cast<double>(center) - left;
  const Array y = forward_at(i, center), y_right = forward_at(i, right),
              y_left = forward_at(i, left);
  const Change whole = change_of(y_right, y_left, dy_);
  const double slopes[] = {change_of(y_right, y, dy_).value / above,
                           change_of(y, y_left, dy_).value / below, whole.value / (above + below)};
  central = slopes[2];
  if (!std::isfinite(central)) return 0;  // the function is not finite here: nothing to compare
  const double got = returned_.data()[i];
  const auto [low, high] = std::minmax({slopes[0], slopes[1], slopes[2]});
  const double tolerance = relative_tolerance * std::max(std::abs(got), std::abs(central)) +
                           floor_tolerance * largest_ + whole.rounding / (above + below) +
                           std::numeric_limits<Real>::min();
  if (got >= low && got <= high) return std::min(1.0, std::abs(got - central) / tolerance);
  return std::min(std::abs(got - low), std::abs(got - high)) / tolerance;
}

void InputCheck::compare(std::size_t i) {
  double ratio = 0, measured = 0;
  for (const double step : steps) {
    ratio = ratio_at(i, step, measured);
    if (ratio <= 1) break;
  }
  ++compared_;
  if (std::isnan(ratio)) ratio = std::numeric_limits<double>::infinity();  // a NaN is the worst
  if (ratio <= worst_ratio_) return;
  worst_ratio_ = ratio;
  worst_ = i;
  worst_measured_ = measured;
}

std::string InputCheck::text() const {
  Shape index = x_.shape();
  std::size_t flat = worst_;
  for (std::size_t axis = index.size(); axis-- > 0; flat /= x_.shape()[axis])
    index[axis] = flat % x_.shape()[axis];
  std::ostringstream text;
  text << "input " << k_ << ", " << short_label(*node_.inputs[k_]) << ": ";
  if (compared_ == 0) return text.str() + "no elements";
  text << (ok() ? "agrees with" : "differs from") << " central differences (" << compared_;
  if (compared_ < x_.size()) text << " of " << x_.size();
  text << " elements compared); worst" << (index.empty() ? "" : " at " + str(index))
       << ": backward " << returned_.data()[worst_] << ", measured " << worst_measured_;
  return text.str();
}

std::string shape_line(const Node& node, std::size_t k, const Array& returned) {
  return "input " + std::to_string(k) + ", " + short_label(*node.inputs[k]) +
         ": backward returns the shape " + str(returned.shape());
}

}  // namespace

NodeCheck check_node(const Node& node) {
  const Array dy =
      node.has_grad ? node.grad : Generator(1).uniform(node.value.shape(), Real{-1}, Real{1});
  const std::vector<Array> returned = node.backward_of(dy);
  NodeCheck result;
  for (std::size_t k = 0; k < node.inputs.size(); ++k) {
    if (node.inputs[k] == nullptr || !node.inputs[k]->requires_grad) continue;
    const bool same_shape = returned[k].shape() == node.inputs[k]->value.shape();
    InputCheck check(node, k, dy, returned[k]);
    if (same_shape) check.run();
    result.lines.push_back(same_shape ? check.text() : shape_line(node, k, returned[k]));
    if (result.differs.empty() && !(same_shape && check.ok())) result.differs = result.lines.back();
  }
  return result;
}

void check_backward(const Node& node) {
  if (node.inputs.empty()) return;
  const NodeCheck check = check_node(node);
  if (!check.differs.empty())
    throw_error("HEED_TRACE=check: the gradient of ", node.op,
                node.name.empty() ? " " : " '" + node.name + "' ", str(node.value.shape()),
                " made at ", str(node.location), " is wrong: ", check.differs);
}

const char* check_text(const Node* node) {
  static std::string text;
  text.clear();
  try {
    const NodeCheck check = check_node(*node);
    text = check.differs.empty() ? "right" : "wrong";
    for (const std::string& line : check.lines) text += '\n' + line;
    if (!in_double)
      text += "\nin float, errors below 2 % are not seen; a program in double sees them";
  } catch (const std::exception& error) {
    text = error.what();
  }
  return text.c_str();
}

}  // namespace HEED_NAMESPACE
