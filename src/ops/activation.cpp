// activation.cpp: elementwise activations (tanh, sigmoid, ReLU, GELU, SiLU) and their derivatives.

#include "heed/ops/activation.hpp"

#include <limits>

#include "heed/array/map.hpp"
#include "heed/autograd/record.hpp"
#include "ops/exp.hpp"

namespace HEED_NAMESPACE {

static constexpr Real no_limit = std::numeric_limits<Real>::infinity();

// min(max(x, low), high); NaN stays NaN. Products of infinity and 0 would be NaN where the limit is
// 0, so large x are first limited.
static Pack clamped(Pack x, Real low, Real high) {
  return xsimd::select(x < Pack(low), Pack(low), xsimd::select(x > Pack(high), Pack(high), x));
}
static constexpr Real largest = std::numeric_limits<Real>::max();

// y = tanh(x)
struct Tanh {
  static constexpr std::string_view name = "Tanh";
  Array forward(const Array& x) const {
    return map([](auto v) { return xsimd::tanh(v); }, x);
  }
  Array backward(const Array& dy, const Array& y, const Array&) const {
    return map([](auto d, auto t) { return d * (Real{1} - t * t); }, dy, y);  // dx = dy (1 - y^2)
  }
};

// y = 1 / (1 + e^-x), which is e^x where e^-x would be infinite
struct Sigmoid {
  static constexpr std::string_view name = "Sigmoid";
  Array forward(const Array& x) const {
    return map(
        [](auto v) {
          const auto e = xsimd::exp(-v);
          const auto y = Real{1} / (Real{1} + e);
          const auto infinite = e > Pack(largest);
          return xsimd::any(infinite) ? xsimd::select(infinite, exp_in_full(v), y) : y;
        },
        x);
  }
  Array backward(const Array& dy, const Array& y, const Array&) const {
    return map([](auto d, auto s) { return d * s * (Real{1} - s); }, dy, y);  // dx = dy y (1 - y)
  }
};

// y = max(x, 0)
struct Relu {
  static constexpr std::string_view name = "Relu";
  Array forward(const Array& x) const {  // tests v < 0, not v > 0, so that NaN stays NaN
    return map([](auto v) { return xsimd::select(v < Pack(0), Pack(0), v); }, x);
  }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    return map([](auto d, auto v) { return xsimd::select(v <= Pack(0), Pack(0), d); }, dy, x);
  }  // dx = dy where x > 0 (and where x is NaN)
};

// y = x P(x), where P(x) = (1 + erf(x / sqrt 2)) / 2 is the CDF of the standard normal distribution
struct GeluErf {
  static constexpr std::string_view name = "GeluErf";
  Array forward(const Array& x) const {
    return map([](auto v) { return clamped(v, -largest, no_limit) * normal_cdf(v); }, x);
  }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    return map(
        [](auto d, auto v) {
          return d * (normal_cdf(v) + clamped(v, -largest, largest) * normal_pdf(v));
        },
        dy, x);
  }  // dx = dy (P(x) + x P'(x)), P'(x) = e^(-x^2 / 2) / sqrt(2 pi)

  static Pack normal_cdf(Pack x) {  // 0 or 1 if |x| > 100
    return Real(0.5) + Real(0.5) * xsimd::erf(clamped(x, -100, 100) * Real(0.7071067811865476));
  }
  static Pack normal_pdf(Pack x) {
    return Real(0.3989422804014327) * xsimd::exp(Real(-0.5) * x * x);
  }
};

// y = x (1 + tanh u) / 2, u = sqrt(2 / pi) (x + 0.044715 x^3)
struct GeluTanh {
  static constexpr std::string_view name = "GeluTanh";
  Array forward(const Array& x) const {
    return map(
        [](auto v) {
          const auto bounded = clamped(v, -largest, no_limit);
          return Real(0.5) * bounded * (Real(1) + xsimd::tanh(inner(v)));
        },
        x);
  }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    return map(
        [](auto d, auto unbounded) {
          const auto v = clamped(unbounded, -100, 100);  // there, tanh u is -1 or 1, and u' finite
          const auto t = xsimd::tanh(inner(v));
          const auto du = slope * (Real(1) + Real(3) * cubic * v * v);
          return d * Real(0.5) * (Real(1) + t + v * (Real(1) - t * t) * du);
        },
        dy, x);
  }  // dx = dy (1 + tanh u + x (1 - tanh^2 u) u') / 2, u' = sqrt(2 / pi) (1 + 3 * 0.044715 x^2)

  static constexpr Real slope = Real(0.7978845608028654), cubic = Real(0.044715);
  static Pack inner(Pack x) { return slope * (x + cubic * x * x * x); }
};

// y = x s(x), s(x) = 1 / (1 + e^-x)
struct Silu {
  static constexpr std::string_view name = "Silu";
  Array forward(const Array& x) const {
    return map([](auto v) { return clamped(v, -largest, no_limit) / (Real{1} + xsimd::exp(-v)); },
               x);
  }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    return map(
        [](auto d, auto unbounded) {
          const auto v = clamped(unbounded, -largest, largest);
          const auto s = Real{1} / (Real{1} + xsimd::exp(-v));
          return d * s * (Real{1} + v * (Real{1} - s));
        },
        dy, x);
  }  // dx = dy (s + x s'), s' = s (1 - s)
};

Tensor tanh(In x) { return record(Tanh{}, x); }
Tensor sigmoid(In x) { return record(Sigmoid{}, x); }
Tensor silu(In x) { return record(Silu{}, x); }
Tensor relu(In x) { return record(Relu{}, x); }
Tensor gelu(In x, Gelu form) {
  return form == Gelu::erf ? record(GeluErf{}, x) : record(GeluTanh{}, x);
}

}  // namespace HEED_NAMESPACE
