// near.hpp: small arrays and tensors for tests, comparisons, and gradient checks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "heed/array/array.hpp"
#include "heed/array/random.hpp"
#include "heed/array/shape.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/autograd/tensor.hpp"
#include "heed/base/error.hpp"
#include "heed/debug/gradcheck.hpp"
#include "heed/ops/mask.hpp"
#include "message_of.hpp"

namespace heed::test {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

inline Array array_of(const Shape& shape, std::initializer_list<double> values) {
  Array x = uninitialized(shape);
  if (x.size() != values.size())
    throw_error("array_of: ", values.size(), " values for ", str(shape));
  std::transform(values.begin(), values.end(), x.data(),
                 [](double v) { return static_cast<Real>(v); });
  return x;
}

inline Tensor tensor_of(const Shape& shape, std::initializer_list<double> values) {
  return Tensor(array_of(shape, values), true);
}

inline Indices indices_of(std::vector<std::size_t> shape, std::vector<std::int64_t> values) {
  Indices x = Indices::from_shape(Indices::shape_type(shape.begin(), shape.end()));
  std::copy(values.begin(), values.end(), x.begin());
  return x;
}

inline Mask mask_of(std::vector<std::size_t> shape, std::vector<int> values) {
  Mask x = Mask::from_shape(Mask::shape_type(shape.begin(), shape.end()));
  std::transform(values.begin(), values.end(), x.begin(), [](int v) { return v != 0; });
  return x;
}

inline Array random_array(const Shape& shape, std::uint64_t seed, double low = -1,
                          double high = 1) {
  return Generator(seed).uniform(shape, low, high);
}

// Random values at least `gap` away from 0, where some functions have a kink.
inline Array away_from_zero(const Shape& shape, std::uint64_t seed, double gap = 0.1) {
  Array x = random_array(shape, seed);
  for (Real& v : x) v += static_cast<Real>(v < 0 ? -gap : gap);
  return x;
}

inline bool close(double got, double want, double tolerance) {
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want)) return got == want;
  return std::abs(got - want) <= tolerance * std::max(1.0, std::abs(want));
}

// "" when every element is within tolerance * max(1, |want|), else the element with the largest
// error.
inline std::string difference(const Array& got, const Array& want, double tolerance = 1e-6) {
  if (got.shape() != want.shape())
    return "shape " + str(got.shape()) + ", not " + str(want.shape());
  double worst = -1;
  std::ostringstream text;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto g = static_cast<double>(got.data()[i]), w = static_cast<double>(want.data()[i]);
    const double error = std::isfinite(g - w) ? std::abs(g - w) : 1e300;
    if (close(g, w, tolerance) || error <= worst) continue;
    worst = error;
    text.str("");
    text.precision(9);
    text << "element " << i << " of " << str(got.shape()) << " is " << g << ", not " << w;
  }
  return text.str();
}

inline std::string difference(const Tensor& got, const Array& want, double tolerance = 1e-6) {
  return difference(got.value(), want, tolerance);
}

inline bool same_bits(const Array& a, const Array& b) {
  if (a.shape() != b.shape()) return false;
  return a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(Real)) == 0;
}

// The gradients of f's inputs for this upstream gradient of its output.
inline std::vector<Array> gradients(const Function& f, const std::vector<Array>& inputs,
                                    const Array& upstream) {
  std::vector<Tensor> leaves;
  for (const Array& input : inputs) leaves.emplace_back(input, true);
  backward(f(leaves), upstream);
  std::vector<Array> result;
  for (const Tensor& leaf : leaves)
    result.push_back(leaf.has_grad() ? leaf.grad() : zeros(leaf.shape()));
  return result;
}

// "" when two functions agree in their values and in the gradients of every input.
inline std::string twin_difference(const Function& f, const Function& g,
                                   const std::vector<Array>& inputs, double tolerance = 2e-6) {
  std::vector<Tensor> constants;
  for (const Array& input : inputs) constants.emplace_back(input);
  const Tensor y = f(constants);
  const std::string error = difference(y, g(constants).value(), tolerance);
  if (!error.empty()) return "value: " + error;
  const Array upstream = random_array(y.shape(), 99);
  const std::vector<Array> a = gradients(f, inputs, upstream), b = gradients(g, inputs, upstream);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string gradient_error = difference(a[i], b[i], tolerance);
    if (!gradient_error.empty())
      return "gradient of input " + std::to_string(i) + ": " + gradient_error;
  }
  return "";
}

// "" when the gradient check of every element passes, else the element with the largest error.
inline std::string gradcheck_error(const Function& f, const std::vector<Array>& inputs) {
  const GradcheckResult result = gradcheck(f, inputs);
  std::size_t elements = 0;
  for (const Array& input : inputs) elements += input.size();
  if (result.ok && result.checked != elements) return "some elements were not checked";
  return result.ok ? "" : result.message;
}

}  // namespace heed::test
