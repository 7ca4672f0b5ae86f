// softmax.cpp: softmax and log_softmax over one axis, logsumexp over several.

#include "heed/ops/softmax.hpp"

#include <cmath>

#include "array/lines.hpp"
#include "array/reduce.hpp"
#include "heed/array/map.hpp"
#include "heed/autograd/record.hpp"
#include "heed/ops/shape.hpp"
#include "ops/softmax_row.hpp"

namespace HEED_NAMESPACE {

// y_i = exp(x_i) / sum_j exp(x_j), over one axis
struct Softmax {
  static constexpr std::string_view name = "Softmax";
  Array forward(const Array& x) const {
    return map_lines(
        [](Real* y, std::size_t n, const Real* v) {
          const ExpRow e = exp_row(y, n, v);
          if (e.sum == 0) return;  // fully masked: zeros
          map_values([sum = static_cast<Real>(e.sum)](auto u) { return u / sum; }, y, n, y);
        },
        axis, x);
  }
  Array backward(const Array& dy, const Array& y, const Array&) const {
    return map_lines(softmax_row_backward, axis, dy, y);  // dx_i = y_i (dy_i - sum_j dy_j y_j)
  }
  std::size_t axis;
};

// y_i = x_i - ln sum_j exp(x_j)
struct LogSoftmax {
  static constexpr std::string_view name = "LogSoftmax";
  Array forward(const Array& x) const {
    return map_lines(
        [](Real* y, std::size_t n, const Real* v) {
          const ExpRow e = exp_row(y, n, v);
          if (e.sum == 0) return static_cast<void>(std::fill_n(y, n, -infinity));
          // Subtracts max before log_sum, because max + log_sum would lose digits of log_sum.
          map_values([max = e.max](auto u) { return u - max; }, y, n, v);
          const auto log_sum = static_cast<Real>(std::log(e.sum));
          map_values([log_sum](auto u) { return u - log_sum; }, y, n, y);
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

// y = ln sum_j exp(x_j), where the reduced axes get size 1
struct LogSumExp {
  static constexpr std::string_view name = "LogSumExp";
  Array forward(const Array& x) const {
    const Array largest =
        x.size() == 0 ? zeros(reduced_shape(x.shape(), axes, true)) : max_over(x, axes, true);
    const Array max =  // 0 if the maximum is infinite, because inf - inf is NaN
        map([](auto m) { return xsimd::select(xsimd::abs(m) < Pack(infinity), m, Pack(0)); },
            largest);
    const Array e =
        map_broadcast([](Real v, Real m) { return std::exp(v - m); }, x, max, x.shape());
    return map([](auto s, auto m) { return xsimd::log(s) + m; }, sum_over(e, axes, true), max);
  }
  Array backward(const Array& dy, const Array& y, const Array& x) const {
    const Array p = map_broadcast(  // softmax(x); 0 in a fully masked row
        [](Real v, Real l) { return l == -infinity ? Real{0} : std::exp(v - l); }, x, y, x.shape());
    return map_broadcast([](Real s, Real d) { return s * d; }, p, dy, x.shape());
  }  // dx_i = dy exp(x_i - y)
  Axes axes;
};

Tensor softmax(In x, int axis) { return record(Softmax{checked_axis("softmax", x, axis)}, x); }
Tensor log_softmax(In x, int axis) {
  return record(LogSoftmax{checked_axis("log_softmax", x, axis)}, x);
}
Tensor logsumexp(In x, const AxisList& axes, Bool keepdim) {
  const Axes checked = checked_axes("logsumexp", x, axes);
  const Tensor y = record(LogSumExp{checked}, x);  // the reduced axes of y have size 1
  return keepdim || x.dim() == 0 ? y : reshape(y, reduced_shape(x.shape(), checked, false));
}

}  // namespace HEED_NAMESPACE
