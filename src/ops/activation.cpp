// activation.cpp: elementwise activations (tanh, sigmoid, ReLU, GELU, SiLU) and their derivatives.

#include "heed/ops/activation.hpp"

#include "heed/array/map.hpp"
#include "heed/autograd/record.hpp"

namespace HEED_NAMESPACE {

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

// y = 1 / (1 + e^-x)
struct Sigmoid {
  static constexpr std::string_view name = "Sigmoid";
  Array forward(const Array& x) const {
    return map([](auto v) { return Real{1} / (Real{1} + xsimd::exp(-v)); }, x);
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
    return map([](auto v) { return v * normal_cdf(v); }, x);
  }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    return map([](auto d, auto v) { return d * (normal_cdf(v) + v * normal_pdf(v)); }, dy, x);
  }  // dx = dy (P(x) + x P'(x)), P'(x) = e^(-x^2 / 2) / sqrt(2 pi)

  static Pack normal_cdf(Pack x) {
    return Real(0.5) + Real(0.5) * xsimd::erf(x * Real(0.7071067811865476));
  }
  static Pack normal_pdf(Pack x) {
    return Real(0.3989422804014327) * xsimd::exp(Real(-0.5) * x * x);
  }
};

// y = x (1 + tanh u) / 2, u = sqrt(2 / pi) (x + 0.044715 x^3)
struct GeluTanh {
  static constexpr std::string_view name = "GeluTanh";
  Array forward(const Array& x) const {
    return map([](auto v) { return Real(0.5) * v * (Real(1) + xsimd::tanh(inner(v))); }, x);
  }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    return map(
        [](auto d, auto v) {
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
    return map([](auto v) { return v / (Real{1} + xsimd::exp(-v)); }, x);
  }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    return map(
        [](auto d, auto v) {
          const auto s = Real{1} / (Real{1} + xsimd::exp(-v));
          return d * s * (Real{1} + v * (Real{1} - s));
        },
        dy, x);
  }  // dx = dy (s + x s'), s' = s (1 - s)
};

Tensor tanh(const Tensor& x, SourceLocation location) { return record(Tanh{}, location, x); }
Tensor sigmoid(const Tensor& x, SourceLocation location) { return record(Sigmoid{}, location, x); }
Tensor silu(const Tensor& x, SourceLocation location) { return record(Silu{}, location, x); }
Tensor relu(const Tensor& x, SourceLocation location) { return record(Relu{}, location, x); }
Tensor gelu(const Tensor& x, Gelu form, SourceLocation location) {
  return form == Gelu::erf ? record(GeluErf{}, location, x) : record(GeluTanh{}, location, x);
}

}  // namespace HEED_NAMESPACE
