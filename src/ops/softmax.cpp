// softmax.cpp: scores become shares; each row is positive and sums to one.

#include "heed/ops/softmax.hpp"

#include <cmath>
#include <limits>

#include "heed/array/lines.hpp"
#include "heed/array/map.hpp"
#include "heed/array/reduce.hpp"
#include "heed/autograd/record.hpp"
#include "heed/ops/shape.hpp"
#include "ops/axis.hpp"

namespace heed {

static constexpr Real infinity = std::numeric_limits<Real>::infinity();

// Every score is -inf: nothing may be attended to. (A NaN among them makes the sum NaN.)
static bool fully_masked(const Real* x, std::size_t n, Real top) {
  return top == -infinity && sum_of(x, n) == static_cast<double>(-infinity);
}

// y_i = exp(x_i) / sum_j exp(x_j), over one axis
struct Softmax {
  static constexpr std::string_view name = "Softmax";
  Array forward(const Array& x) const { return map_lines(shares, axis, x); }
  Array backward(const Array& dy, const Array& y, const Array&) const {
    return map_lines(scores_gradient, axis, dy, y);
  }
  static void shares(Real* y, std::size_t n, const Real* x) {
    const Real top = max_of(x, n);
    if (fully_masked(x, n, top)) return static_cast<void>(std::fill_n(y, n, Real{0}));
    map_values([top](auto v) { return xsimd::exp(v - top); }, y, n, x);  // no overflow: v <= top
    const auto sum = static_cast<Real>(sum_of(y, n));
    map_values([sum](auto e) { return e / sum; }, y, n, y);
  }
  // dx_i = y_i (dy_i - sum_j dy_j y_j)
  static void scores_gradient(Real* dx, std::size_t n, const Real* dy, const Real* y) {
    const auto mean = static_cast<Real>(dot_of(dy, y, n));
    map_values([mean](auto d, auto p) { return p * (d - mean); }, dx, n, dy, y);
  }
  std::size_t axis;
};

// y_i = x_i - ln sum_j exp(x_j)
struct LogSoftmax {
  static constexpr std::string_view name = "LogSoftmax";
  Array forward(const Array& x) const {
    return map_lines(
        [](Real* y, std::size_t n, const Real* v) {
          const Real top = max_of(v, n);
          if (fully_masked(v, n, top)) return static_cast<void>(std::fill_n(y, n, -infinity));
          map_values([top](auto e) { return xsimd::exp(e - top); }, y, n, v);
          const auto log_sum = static_cast<Real>(std::log(sum_of(y, n)));
          // The maximum first: beside a large one, log_sum would lose its digits.
          map_values([top](auto e) { return e - top; }, y, n, v);
          map_values([log_sum](auto e) { return e - log_sum; }, y, n, y);
        },
        axis, x);
  }
  Array backward(const Array& dy, const Array& y, const Array&) const {
    return map_lines(
        [](Real* dx, std::size_t n, const Real* d, const Real* log_p) {
          if (fully_masked(log_p, n, max_of(log_p, n)))
            return static_cast<void>(std::fill_n(dx, n, Real{0}));
          const auto sum = static_cast<Real>(sum_of(d, n));
          map_values([sum](auto g, auto l) { return g - xsimd::exp(l) * sum; }, dx, n, d, log_p);
        },
        axis, dy, y);
  }  // dx_i = dy_i - exp(y_i) sum_j dy_j
  std::size_t axis;
};

// y = ln sum_j exp(x_j), the axis kept with size 1
struct LogSumExp {
  static constexpr std::string_view name = "LogSumExp";
  Array forward(const Array& x) const {
    const Array most =
        x.size() == 0 ? zeros(reduced_shape(x.shape(), {axis}, true)) : max_over(x, {axis}, true);
    const Array top =  // an infinite maximum is not subtracted
        map([](auto m) { return xsimd::select(xsimd::abs(m) < Pack(infinity), m, Pack(0)); }, most);
    const Array e =
        map_broadcast([](Real v, Real m) { return std::exp(v - m); }, x, top, x.shape());
    return map([](auto s, auto m) { return xsimd::log(s) + m; }, sum_over(e, {axis}, true), top);
  }
  Array backward(const Array& dy, const Array& y, const Array& x) const {
    const Array p = map_broadcast(  // the softmax; 0 where all is -inf
        [](Real v, Real l) { return l == -infinity ? Real{0} : std::exp(v - l); }, x, y, x.shape());
    return map_broadcast([](Real s, Real d) { return s * d; }, p, dy, x.shape());
  }  // dx_i = dy exp(x_i - y)
  std::size_t axis;
};

Tensor softmax(const Tensor& x, int axis, SourceLocation location) {
  return record(Softmax{checked_axis("softmax", x, axis)}, location, x);
}
Tensor log_softmax(const Tensor& x, int axis, SourceLocation location) {
  return record(LogSoftmax{checked_axis("log_softmax", x, axis)}, location, x);
}
Tensor logsumexp(const Tensor& x, int axis, bool keepdim, SourceLocation location) {
  const std::size_t checked = checked_axis("logsumexp", x, axis);
  const Tensor y = record(LogSumExp{checked}, location, x);  // the axis has size 1
  return keepdim || x.dim() == 0 ? y : squeeze(y, axis, location);
}

}  // namespace heed
