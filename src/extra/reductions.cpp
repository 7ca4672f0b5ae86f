// reductions.cpp: minimum, product, cumulative sum, norm, variance and standard deviation over
// axes.

#include "heed/extra/reductions.hpp"

#include <cmath>
#include <limits>

#include "array/lines.hpp"
#include "array/reduce.hpp"
#include "heed/array/map.hpp"
#include "heed/autograd/record.hpp"
#include "heed/base/error.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"

namespace HEED_NAMESPACE {

// ---- amin, amax, argmin

static void check_elements(std::string_view op, const Tensor& x, const AxisList& axes) {
  const Shape kept = reduced_shape(x.shape(), checked_axes(op, x, axes), true);
  if (x.value().size() == 0 && numel(kept) != 0)
    throw_error(op, ": no elements to compare in ", describe(x, "x"));
}

static Tensor smallest(std::string_view op, const In& x, const AxisList& axes, Bool keepdim) {
  check_elements(op, x, axes);
  return -max(-x, axes, keepdim);
}

Tensor amin(In x, const AxisList& axes, Bool keepdim) { return smallest("amin", x, axes, keepdim); }
Tensor min(In x, const AxisList& axes, Bool keepdim) { return smallest("min", x, axes, keepdim); }
Tensor amax(In x, const AxisList& axes, Bool keepdim) {
  check_elements("amax", x, axes);
  return max(x, axes, keepdim);
}

Indices argmin(In x, int axis) {
  check_elements("argmin", x, axis);
  const NoGrad no_grad;
  return argmax(-x, axis);
}

// ---- prod, cumsum

// y = product of x_i along one axis, which gets size 1
struct Prod {
  static constexpr std::string_view name = "Prod";
  Array forward(const Array& x) const {
    const Lines lines(x.shape(), axis);
    Array y = uninitialized(reduced_shape(x.shape(), {axis}, true));
    for (std::size_t line = 0; line < lines.count; ++line) {
      double product = 1;
      for (std::size_t i = 0; i < lines.size; ++i)
        product *= static_cast<double>(x.data()[lines.start(line) + i * lines.inner]);
      y.data()[line] = static_cast<Real>(product);
    }
    return y;
  }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    return map_lines(products_of_others, axis, x, expanded(dy, x.shape()));
  }  // dx_i = dy prod_{j != i} x_j
  static void products_of_others(Real* dx, std::size_t n, const Real* x, const Real* dy) {
    std::vector<double> before(n);  // before[i] = x_0 ... x_{i-1}
    double product = 1;
    for (std::size_t i = 0; i < n; product *= static_cast<double>(x[i++])) before[i] = product;
    product = 1;  // of x_{i+1} ... x_{n-1}
    for (std::size_t i = n; i-- > 0; product *= static_cast<double>(x[i]))
      dx[i] = static_cast<Real>(static_cast<double>(dy[i]) * before[i] * product);
  }
  std::size_t axis;
};

Tensor prod(In x, int axis, Bool keepdim) {
  const std::size_t at = checked_axis("prod", x, axis);
  if (x.dim() == 0) return prod(x);
  const Tensor y = record(Prod{at}, x);
  return keepdim ? y : squeeze(y, axis);
}
Tensor prod(In x) { return prod(reshape(x, {x.value().size()}), 0); }

// y_i = x_0 + ... + x_i along one axis
struct Cumsum {
  static constexpr std::string_view name = "Cumsum";
  Array forward(const Array& x) const {
    const auto sums = [](Real* y, std::size_t n, const Real* v) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i)
        y[i] = static_cast<Real>(sum += static_cast<double>(v[i]));
    };
    return map_lines(sums, axis, x);
  }
  Array backward(const Array& dy, const Array&, const Array&) const {
    const auto sums = [](Real* dx, std::size_t n, const Real* d) {
      double sum = 0;
      for (std::size_t i = n; i-- > 0;) dx[i] = static_cast<Real>(sum += static_cast<double>(d[i]));
    };
    return map_lines(sums, axis, dy);  // dx_i = dy_i + ... + dy_{n-1}
  }
  std::size_t axis;
};

Tensor cumsum(In x, int axis) { return record(Cumsum{checked_axis("cumsum", x, axis)}, x); }

// ---- norm, normalize

static constexpr double infinite = std::numeric_limits<double>::infinity();

// y = (sum_i |x_i|^p)^(1/p) over axes, which get size 1
struct VectorNorm {
  static constexpr std::string_view name = "VectorNorm";
  Array forward(const Array& x) const {
    const Shape kept = reduced_shape(x.shape(), axes, true);
    if (std::isinf(p)) return extremum(x, kept);
    std::vector<double> sums(numel(kept), 0.0);
    const StridedLoop<2> loop(x.shape(),
                              {row_major_strides(x.shape()), broadcast_strides(kept, x.shape())});
    const auto [step_x, step_y] = loop.row_strides();
    loop.each_row(0, loop.rows(), [&, sx = step_x, sy = step_y](const auto& at) {
      const Real* in = x.data() + at[0];
      double* sum = sums.data() + at[1];
      for (std::size_t i = 0; i < loop.row_size(); ++i, in += sx, sum += sy)
        *sum += term(static_cast<double>(*in));
    });
    Array y = uninitialized(kept);
    for (std::size_t i = 0; i < y.size(); ++i) y.data()[i] = static_cast<Real>(root(sums[i]));
    return y;
  }
  Array backward(const Array& dy, const Array& y, const Array& x) const {
    const Array norms = expanded(y, x.shape());
    const Array slopes = map_broadcast(
        [this](Real v, Real n) { return static_cast<Real>(slope(v, n)); }, x, norms, x.shape());
    const Array d = std::isinf(p) ? shared(dy, slopes) : dy;
    return map([](auto u, auto s) { return u * s; }, expanded(d, x.shape()), slopes);
  }  // dx_i = dy sign(x_i) (|x_i| / y)^(p-1), 0 where y = 0; equal extrema share dy

  Array extremum(const Array& x, const Shape& kept) const {
    const Real sign = p > 0 ? 1 : -1;
    const Array size = map([sign](auto v) { return sign * xsimd::abs(v); }, x);
    return reshaped(map([sign](auto v) { return sign * v; }, max_over(size, axes, true)), kept);
  }
  // |v|^p; for p = 0 whether v is not 0 (true for NaN, as in PyTorch)
  double term(double v) const {
    return p == 2 ? v * v : p == 1 ? std::abs(v) : p == 0 ? v != 0 : std::pow(std::abs(v), p);
  }
  double root(double sum) const {
    return p == 2 ? std::sqrt(sum) : p == 1 || p == 0 ? sum : std::pow(sum, 1 / p);
  }
  // d y / d v for an element v and the norm n
  double slope(double v, double n) const {
    const double sign = v > 0 ? 1 : v < 0 ? -1 : 0;  // 0 for NaN
    if (p == 0) return 0;
    if (p == 1) return sign;
    if (std::isinf(p)) return std::abs(v) == n || v != v ? sign : 0;
    if (n == 0 || (p < 1 && v == 0)) return 0;
    return p == 2 ? v / n : sign * std::pow(std::abs(v) / n, p - 1);
  }
  // dy divided by the number of elements that are equal to the extremum
  Array shared(const Array& dy, const Array& slopes) const {
    const Array ones =
        map([](auto s) { return xsimd::select(s == Pack(0), Pack(0), Pack(1)); }, slopes);
    const Array count = sum_over(ones, axes, true);
    return map([](auto d, auto n) { return d / xsimd::max(n, Pack(1)); }, dy, count);
  }
  double p;
  Axes axes;
};

Tensor norm(In x, double p, const AxisList& axes, Bool keepdim) {
  if (std::isnan(p)) throw_error("norm: p of ", describe(x, "x"), " is NaN; give a number");
  const Axes checked = checked_axes("norm", x, axes);
  if (std::isinf(p)) check_elements("norm", x, axes);
  const Tensor y = record(VectorNorm{p, checked}, x);  // the reduced axes of y have size 1
  return keepdim || x.dim() == 0 ? y : reshape(y, reduced_shape(x.shape(), checked, false));
}

Tensor normalize(In x, double p, int axis, double eps) {
  checked_axis("normalize", x, axis);
  return x / clamp(norm(x, p, axis, true), eps, infinite);
}

// ---- var, stddev

Tensor var(In x, const AxisList& axes, double correction, Bool keepdim) {
  double n = 1;
  for (const std::size_t axis : checked_axes("var", x, axes))
    n *= static_cast<double>(x.shape()[axis]);
  if (correction == 1) return variance(x, axes, true, keepdim);
  const Tensor biased = variance(x, axes, false, keepdim);
  return correction == 0 ? biased : biased * (n / std::max(n - correction, 0.0));
}

// y = sqrt(x), with the derivative 0 at 0
struct RootOfVariance {
  static constexpr std::string_view name = "RootOfVariance";
  Array forward(const Array& x) const {
    return map([](auto v) { return xsimd::sqrt(v); }, x);
  }
  Array backward(const Array& dy, const Array& y, const Array&) const {
    return map([](auto d, auto r) { return xsimd::select(r == Pack(0), Pack(0), d / (r + r)); }, dy,
               y);  // dx = dy / 2y
  }
};

Tensor stddev(In x, const AxisList& axes, double correction, Bool keepdim) {
  checked_axes("stddev", x, axes);
  return record(RootOfVariance{}, In(var(x, axes, correction, keepdim)));
}

}  // namespace HEED_NAMESPACE
