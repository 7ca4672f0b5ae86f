// elementwise.cpp: pow, sin, cos, erf, softplus, leaky_relu and elu with their derivatives, and the
// operators += -= *= /=.

#include "heed/extra/elementwise.hpp"

#include <cmath>

#include "array/reduce.hpp"
#include "heed/array/map.hpp"
#include "heed/autograd/record.hpp"
#include "heed/base/error.hpp"
#include "heed/ops/arithmetic.hpp"

namespace HEED_NAMESPACE {

// Returns formula(x) for each element, a single number: xsimd's versions are less exact.
template <class Formula>
static Array each_number(const Array& x, const Formula& formula) {
  return map_broadcast([&](Real v, Real) { return formula(v); }, x, scalar(0), x.shape());
}
static Array product(const Array& a, const Array& b) {
  return map([](auto u, auto v) { return u * v; }, a, b);
}

// y = a^b
struct Pow {
  static constexpr std::string_view name = "Pow";
  Array forward(const Array& a, const Array& b) const {
    return map_broadcast([](Real u, Real v) { return std::pow(u, v); }, a, b,
                         broadcast("pow", a.shape(), b.shape()));
  }
  Grads<2> backward(const Array& dy, const Array& y, const Array& a, const Array& b) const {
    const auto slope = [](Real u, Real v) { return v == 0 ? 0 : v * std::pow(u, v - 1); };
    const auto log = [](Real u, Real v) { return u == 0 && v >= 0 ? 0 : std::log(u); };
    const Array logs = map_broadcast(log, a, b, y.shape());
    const Array db =
        map([](auto p, auto l) { return xsimd::select(l == Pack(0), Pack(0), p * l); }, y, logs);
    return {sum_to(product(dy, map_broadcast(slope, a, b, y.shape())), a.shape()),
            sum_to(product(dy, db), b.shape())};
  }  // da = dy b a^(b-1), db = dy a^b ln a
};

Tensor pow(In a, In b) {
  broadcast("pow", a.shape(), b.shape(), name_or(a, "a"), name_or(b, "b"));
  return record(Pow{}, a, b);
}
Tensor pow(In a, double b) { return power(a, b); }
Tensor pow(double a, In b) { return pow(Tensor(scalar(static_cast<Real>(a))), b); }

// y = sin x
struct Sin {
  static constexpr std::string_view name = "Sin";
  Array forward(const Array& x) const {
    return each_number(x, [](Real v) { return std::sin(v); });
  }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    return product(dy, each_number(x, [](Real v) { return std::cos(v); }));  // dx = dy cos x
  }
};

// y = cos x
struct Cos {
  static constexpr std::string_view name = "Cos";
  Array forward(const Array& x) const {
    return each_number(x, [](Real v) { return std::cos(v); });
  }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    return product(dy, each_number(x, [](Real v) { return -std::sin(v); }));  // dx = -dy sin x
  }
};

// y = erf x
struct Erf {
  static constexpr std::string_view name = "Erf";
  Array forward(const Array& x) const {
    return each_number(x, [](Real v) { return std::erf(v); });
  }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    return map([](auto d, auto v) { return d * Real(1.1283791670955126) * xsimd::exp(-v * v); }, dy,
               x);
  }  // dx = dy 2 / sqrt(pi) e^(-x^2)
};

// y = ln(1 + e^u) / beta with u = beta x; x where u > threshold
struct Softplus {
  static constexpr std::string_view name = "Softplus";
  Array forward(const Array& x) const {  // max(u, 0) + ln(1 + e^-|u|) does not overflow
    return map(
        [beta = beta, limit = threshold](auto v) {
          const auto u = beta * v;
          const auto above = xsimd::select(u < Pack(0), Pack(0), u);  // NaN stays NaN
          const auto y = (above + xsimd::log1p(xsimd::exp(-xsimd::abs(u)))) / beta;
          return xsimd::select(u > Pack(limit), v, y);
        },
        x);
  }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    return map(
        [beta = beta, limit = threshold](auto d, auto v) {
          const auto u = beta * v;
          return xsimd::select(u > Pack(limit), d, d / (Real{1} + xsimd::exp(-u)));
        },
        dy, x);
  }  // dx = dy / (1 + e^-u); dy where u > threshold
  Real beta, threshold;
};

Tensor softplus(In x, double beta, double threshold) {
  if (!(beta > 0))
    throw_error("softplus: beta = ", beta, " for ", describe(x, "x"), " must be above 0");
  return record(Softplus{static_cast<Real>(beta), static_cast<Real>(threshold)}, x);
}

// y = x where x > 0, else s x
struct LeakyRelu {
  static constexpr std::string_view name = "LeakyRelu";
  Array forward(const Array& x) const {
    return map([s = slope](auto v) { return xsimd::select(v > Pack(0), v, s * v); }, x);
  }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    return map([s = slope](auto d, auto v) { return xsimd::select(v > Pack(0), d, s * d); }, dy, x);
  }  // dx = dy where x > 0, else s dy
  Real slope;
};

// y = x where x > 0, else alpha (e^x - 1)
struct Elu {
  static constexpr std::string_view name = "Elu";
  Array forward(const Array& x) const {  // tests v <= 0, so that NaN stays NaN
    return map([a = alpha](auto v) { return xsimd::select(v <= Pack(0), a * xsimd::expm1(v), v); },
               x);
  }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    return map(
        [a = alpha](auto d, auto v) {
          return d * xsimd::select(v <= Pack(0), a * xsimd::exp(v), Pack(1));
        },
        dy, x);
  }  // dx = dy where x > 0, else dy alpha e^x
  Real alpha;
};

Tensor sin(In x) { return record(Sin{}, x); }
Tensor cos(In x) { return record(Cos{}, x); }
Tensor erf(In x) { return record(Erf{}, x); }
Tensor leaky_relu(In x, double negative_slope) {
  return record(LeakyRelu{static_cast<Real>(negative_slope)}, x);
}
Tensor elu(In x, double alpha) { return record(Elu{static_cast<Real>(alpha)}, x); }

// ---- += -= *= /=

// Returns x. Throws Error if x is a leaf that requires a gradient.
static Tensor& checked_handle(const char* op, Tensor& x) {
  if (x.requires_grad() && x.node()->depth == 0)
    throw_error(op, ": ", describe(x, "x"),
                " is a leaf that requires a gradient, and would become ",
                "another tensor; change its value with mutable_value()");
  return x;
}

Tensor& operator+=(Tensor& x, In y) { return x = checked_handle("+=", x) + y; }
Tensor& operator-=(Tensor& x, In y) { return x = checked_handle("-=", x) - y; }
Tensor& operator*=(Tensor& x, In y) { return x = checked_handle("*=", x) * y; }
Tensor& operator/=(Tensor& x, In y) { return x = checked_handle("/=", x) / y; }
Tensor& operator+=(Tensor& x, const NumberIn& y) { return x = checked_handle("+=", x) + y.value; }
Tensor& operator-=(Tensor& x, const NumberIn& y) { return x = checked_handle("-=", x) - y.value; }
Tensor& operator*=(Tensor& x, const NumberIn& y) { return x = checked_handle("*=", x) * y.value; }
Tensor& operator/=(Tensor& x, const NumberIn& y) { return x = checked_handle("/=", x) / y.value; }

}  // namespace HEED_NAMESPACE
