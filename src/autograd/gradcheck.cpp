// gradcheck.cpp: gradient checks by central differences, one element at a time.

#include "heed/autograd/gradcheck.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "heed/array/random.hpp"
#include "heed/autograd/backward.hpp"

namespace HEED_NAMESPACE {

static std::vector<Tensor> tensors(const std::vector<Array>& values, bool requires_grad) {
  std::vector<Tensor> result;
  for (const Array& value : values) result.emplace_back(value, requires_grad);
  return result;
}

// sum_i (a_i - b_i) u_i. Computing sum_i a_i u_i - sum_i b_i u_i instead would lose more digits.
static double difference(const Array& a, const Array& b, const Array& u) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += (static_cast<double>(a.data()[i]) - static_cast<double>(b.data()[i])) *
           static_cast<double>(u.data()[i]);
  return sum;
}

// The central difference of sum(f * upstream) with respect to inputs[k][i].
static double central_difference(const Function& f, std::vector<Array>& inputs, std::size_t k,
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
  return difference(f_above.value(), f_below.value(), upstream) /
         (static_cast<double>(above) - static_cast<double>(below));
}

static void compare(GradcheckResult& result, const GradcheckOptions& options, std::size_t k,
                    std::size_t i, double got, double measured) {
  const double tolerance =
      options.absolute + options.relative * std::max(std::abs(got), std::abs(measured));
  const double error = std::abs(got - measured) / tolerance;
  ++result.checked;
  if (error <= result.worst) return;  // `<=` is false for a NaN error, so the NaN is reported
  result.worst = error;
  result.ok = error <= 1;
  std::ostringstream text;
  text << "input " << k << " element " << i << ": backward " << got << ", measured " << measured;
  result.message = text.str();
}

// In float, adds to the message which errors the check cannot see.
static GradcheckResult with_limits(GradcheckResult result, const GradcheckOptions& options) {
  if (sizeof(Real) == sizeof(double)) return result;
  std::ostringstream text;
  text << result.message << " (in float, errors below " << 100 * options.relative << " % or "
       << options.absolute << " are not seen; heed_double or --double checks six digits)";
  result.message = text.str();
  return result;
}

GradcheckResult gradcheck(const Function& f, const std::vector<Array>& inputs,
                          const GradcheckOptions& options) {
  const std::vector<Tensor> leaves = tensors(inputs, true);
  const Tensor output = f(leaves);
  const Array upstream = Generator(options.seed).uniform(output.shape(), -1, 1);
  GradcheckResult result;
  if (output.requires_grad()) backward(output, upstream);
  std::vector<Array> values = inputs;
  for (std::size_t k = 0; k < inputs.size(); ++k)
    for (std::size_t i = 0; i < inputs[k].size(); ++i) {
      const double got = leaves[k].has_grad() ? static_cast<double>(leaves[k].grad().data()[i]) : 0;
      const double measured = central_difference(f, values, k, i, upstream, options.step);
      compare(result, options, k, i, got, measured);
      if (std::isnan(result.worst)) return with_limits(result, options);
    }
  return with_limits(result, options);
}

}  // namespace HEED_NAMESPACE
