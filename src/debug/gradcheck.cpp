// gradcheck.cpp: gradient checks by central differences, one element at a time.

#include "heed/debug/gradcheck.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "debug/change.hpp"
#include "debug/preserved_gradients.hpp"
#include "heed/array/random.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {

static std::vector<Tensor> tensors(const std::vector<Array>& values, bool requires_grad,
                                   SourceLocation location = SourceLocation::current()) {
  std::vector<Tensor> result;
  for (const Array& value : values) result.push_back(Tensor(value, requires_grad, location));
  return result;
}

// The change of the result. Where two elements differ, each may be wrong by half a unit in its last
// place. Two equal infinities count, so that their difference, NaN, is reported.
static Change difference(const Array& a, const Array& b, const Array& u) {
  Change change = change_of(a, b, u, [](std::size_t, double above, double below) {
    return above != below || !std::isfinite(above);
  });
  change.rounding /= 2;
  return change;
}

// The central difference of sum(f * upstream) with respect to inputs[k][i].
static Change central_difference(const Function& f, std::vector<Array>& inputs, std::size_t k,
                                 std::size_t i, const Array& upstream, double step) {
  const NoGrad no_grad;
  Real& x = inputs[k].data()[i];
  const Real center = x;
  const auto above = static_cast<Real>(center + step), below = static_cast<Real>(center - step);
  x = above;
  const Tensor f_above = f(tensors(inputs, false));
  x = below;
  const Tensor f_below = f(tensors(inputs, false));
  x = center;
  for (const Tensor& y : {f_above, f_below})
    if (y.shape() != shape_of(upstream))
      throw_error("gradcheck: f has a result ", str(y.shape()), " after one ",
                  str(shape_of(upstream)), "; it must be deterministic");
  const Change change = difference(f_above.value(), f_below.value(), upstream);
  const double width = static_cast<double>(above) - static_cast<double>(below);
  return {change.value / width, change.rounding / width};
}

static void compare(GradcheckResult& result, const GradcheckOptions& options, std::size_t k,
                    std::size_t i, double got, const Change& measured) {
  const double largest = std::max(std::abs(got), std::abs(measured.value));
  const double tolerance = options.absolute + options.relative * largest + measured.rounding;
  const double error = std::abs(got - measured.value) / tolerance;
  ++result.checked;
  if (error <= result.worst) return;  // `<=` is false for a NaN error, so the NaN is reported
  result.worst = error;
  result.ok = error <= 1;
  std::ostringstream text;
  text << "input " << k << " element " << i << ": backward " << got << ", measured "
       << measured.value;
  result.message = text.str();
}

// In float, adds to the message how large an error the check may overlook.
static GradcheckResult with_limits(GradcheckResult result, const GradcheckOptions& options) {
  if (sizeof(Real) == sizeof(double)) return result;
  std::ostringstream text;
  text << result.message << " (in float, errors below " << 100 * options.relative << " % or "
       << options.absolute << " are not seen; heed_double or --double checks six digits)";
  result.message = text.str();
  return result;
}

static void check(const Function& f, const GradcheckOptions& options) {
  if (!f) throw_error("gradcheck: f is empty; give a function");
  if (!grad_enabled())
    throw_error("gradcheck: a NoGrad object exists, so that f records no graph; end its scope");
  const auto check_positive = [](const char* name, double value, bool zero_allowed) {
    if (!(value > 0 || (zero_allowed && value == 0)) || std::isinf(value))
      throw_error("gradcheck: ", name, " is ", value, "; give a finite number ",
                  zero_allowed ? "of at least 0" : "above 0");
  };
  check_positive("step", options.step, false);
  check_positive("relative", options.relative, true);
  check_positive("absolute", options.absolute, true);
}

GradcheckResult gradcheck(const Function& f, const std::vector<Array>& inputs,
                          const GradcheckOptions& options, SourceLocation location) {
  const CallSite site(location);
  check(f, options);
  const PreservedGradients gradients;
  const std::vector<Tensor> leaves = tensors(inputs, true, location);
  const Tensor output = f(leaves);
  const Array upstream = Generator(options.seed).uniform(output.shape(), -1, 1);
  GradcheckResult result;
  if (output.requires_grad()) backward(output, upstream);
  std::vector<Array> values = inputs;
  for (std::size_t k = 0; k < inputs.size(); ++k)
    for (std::size_t i = 0; i < inputs[k].size(); ++i) {
      const double got = leaves[k].has_grad() ? static_cast<double>(leaves[k].grad().data()[i]) : 0;
      const Change measured = central_difference(f, values, k, i, upstream, options.step);
      compare(result, options, k, i, got, measured);
      if (std::isnan(result.worst)) return with_limits(result, options);
    }
  if (result.checked == 0) result.message = "nothing was compared: the inputs have no elements";
  return with_limits(result, options);
}

}  // namespace HEED_NAMESPACE
