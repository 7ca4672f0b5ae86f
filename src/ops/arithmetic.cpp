// arithmetic.cpp: elementwise arithmetic (+ - * /, power, exp, log, sqrt, abs, clamp) and its
// derivatives.

#include "heed/ops/arithmetic.hpp"

#include <cmath>

#include "array/reduce.hpp"
#include "heed/array/map.hpp"
#include "heed/autograd/record.hpp"
#include "heed/base/error.hpp"
#include "ops/exp.hpp"

namespace HEED_NAMESPACE {

// Evaluates formula(a, b) elementwise, after a and b are broadcast to one shape.
template <class Formula>
static Array map_binary(std::string_view name, const Formula& formula, const Array& a,
                        const Array& b) {
  if (a.shape() == b.shape()) return map(formula, a, b);
  return map_broadcast(formula, a, b, broadcast(name, a.shape(), b.shape()));
}

// y = a + b
struct Add {
  static constexpr std::string_view name = "Add";
  Array forward(const Array& a, const Array& b) const {
    return map_binary(
        "add", [](auto u, auto v) { return u + v; }, a, b);
  }
  Grads<2> backward(const Array& dy, const Array&, const Array& a, const Array& b) const {
    return {sum_to(dy, a.shape()), sum_to(dy, b.shape())};  // da = dy, db = dy
  }
};

// y = a - b
struct Subtract {
  static constexpr std::string_view name = "Subtract";
  Array forward(const Array& a, const Array& b) const {
    return map_binary(
        "subtract", [](auto u, auto v) { return u - v; }, a, b);
  }
  Grads<2> backward(const Array& dy, const Array&, const Array& a, const Array& b) const {
    const Array minus_dy = map([](auto d) { return -d; }, dy);
    return {sum_to(dy, a.shape()), sum_to(minus_dy, b.shape())};  // da = dy, db = -dy
  }
};

// y = a b
struct Multiply {
  static constexpr std::string_view name = "Multiply";
  static Array product(const Array& a, const Array& b) {
    return map_binary(
        "multiply", [](auto u, auto v) { return u * v; }, a, b);
  }
  Array forward(const Array& a, const Array& b) const { return product(a, b); }
  Grads<2> backward(const Array& dy, const Array&, const Array& a, const Array& b) const {
    return {sum_to(product(dy, b), a.shape()),   // da = dy b
            sum_to(product(dy, a), b.shape())};  // db = dy a
  }
};

// y = a / b
struct Divide {
  static constexpr std::string_view name = "Divide";
  static Array quotient(const Array& a, const Array& b) {
    return map_binary(
        "divide", [](auto u, auto v) { return u / v; }, a, b);
  }
  Array forward(const Array& a, const Array& b) const { return quotient(a, b); }
  Grads<2> backward(const Array& dy, const Array& y, const Array& a, const Array& b) const {
    const Array per_b = quotient(dy, b);
    const Array db = map([](auto d, auto q) { return -d * q; }, per_b, y);
    return {sum_to(per_b, a.shape()),  // da = dy / b
            sum_to(db, b.shape())};    // db = -dy a / b^2 = -(dy / b) y
  }
};

// y = -x
struct Negate {
  static constexpr std::string_view name = "Negate";
  Array forward(const Array& x) const {
    return map([](auto v) { return -v; }, x);
  }
  Array backward(const Array& dy, const Array&, const Array&) const {
    return map([](auto d) { return -d; }, dy);  // dx = -dy
  }
};

// y = x + c
struct AddConstant {
  static constexpr std::string_view name = "AddConstant";
  Array forward(const Array& x) const {
    return map([c = c](auto v) { return v + c; }, x);
  }
  Array backward(const Array& dy, const Array&, const Array&) const { return dy; }  // dx = dy
  Real c;
};

// y = c x
struct Scale {
  static constexpr std::string_view name = "Scale";
  Array forward(const Array& x) const {
    return map([c = c](auto v) { return v * c; }, x);
  }
  Array backward(const Array& dy, const Array&, const Array&) const {
    return map([c = c](auto d) { return d * c; }, dy);  // dx = c dy
  }
  Real c;
};

// y = x / c
struct DivideByConstant {
  static constexpr std::string_view name = "DivideByConstant";
  Array forward(const Array& x) const {
    return map([c = c](auto v) { return v / c; }, x);
  }
  Array backward(const Array& dy, const Array&, const Array&) const {
    return map([c = c](auto d) { return d / c; }, dy);  // dx = dy / c
  }
  Real c;
};

// y = x^p, p constant
struct Power {
  static constexpr std::string_view name = "Power";
  Array forward(const Array& x) const {
    return each(x, [e = p](Real v) { return static_cast<Real>(std::pow(v, e)); });
  }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    if (p == 0) return zeros(x.shape());
    const Array derivative =
        each(x, [e = p](Real v) { return static_cast<Real>(e * std::pow(v, e - 1)); });
    return map([](auto d, auto s) { return d * s; }, dy, derivative);  // dx = dy p x^(p-1)
  }
  template <class Formula>  // no SIMD, because xsimd::pow is inexact for an integer p
  static Array each(const Array& x, const Formula& formula) {
    return map_broadcast([&](Real v, Real) { return formula(v); }, x, scalar(0), x.shape());
  }
  double p;
};

// y = e^x
struct Exp {
  static constexpr std::string_view name = "Exp";
  Array forward(const Array& x) const {
    return map([](auto v) { return exp_in_full(v); }, x);
  }
  Array backward(const Array& dy, const Array& y, const Array&) const {
    return map([](auto d, auto e) { return d * e; }, dy, y);  // dx = dy y
  }
};

// y = ln x
struct Log {
  static constexpr std::string_view name = "Log";
  Array forward(const Array& x) const {
    return map([](auto v) { return xsimd::log(v); }, x);
  }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    return map([](auto d, auto v) { return d / v; }, dy, x);  // dx = dy / x
  }
};

// y = sqrt(x)
struct Sqrt {
  static constexpr std::string_view name = "Sqrt";
  Array forward(const Array& x) const {
    return map([](auto v) { return xsimd::sqrt(v); }, x);
  }
  Array backward(const Array& dy, const Array& y, const Array&) const {
    return map([](auto d, auto root) { return d / (root + root); }, dy, y);  // dx = dy / 2y
  }
};

// y = |x|
struct Abs {
  static constexpr std::string_view name = "Abs";
  Array forward(const Array& x) const {
    return map([](auto v) { return xsimd::abs(v); }, x);
  }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    return map([](auto d, auto v) { return d * sign(v); }, dy, x);  // dx = dy sign(x)
  }
  static Pack sign(Pack v) {  // 0 for NaN
    return xsimd::select(v > Pack(0), Pack(1), xsimd::select(v < Pack(0), Pack(-1), Pack(0)));
  }
};

// y = min(max(x, low), high)
struct Clamp {
  static constexpr std::string_view name = "Clamp";
  Array forward(const Array& x) const {  // uses comparisons, because min and max would drop NaN
    return map(
        [lo = low, hi = high](auto v) {
          const auto raised = xsimd::select(v < Pack(lo), Pack(lo), v);
          return xsimd::select(raised > Pack(hi), Pack(hi), raised);
        },
        x);
  }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    return map(
        [lo = low, hi = high](auto d, auto v) {
          return xsimd::select((v >= Pack(lo)) && (v <= Pack(hi)), d, Pack(0));
        },
        dy, x);  // dx = dy where low <= x <= high, else 0 (also for NaN)
  }
  Real low, high;
};

template <class Op>
static Tensor record_binary(std::string_view name, const In& a, const In& b) {
  if (a.shape() != b.shape())
    broadcast(name, a.shape(), b.shape(), name_or(a, "a"), name_or(b, "b"));
  return record(Op{}, a, b);
}

Tensor operator+(In a, In b) { return record_binary<Add>("add", a, b); }
Tensor operator-(In a, In b) { return record_binary<Subtract>("subtract", a, b); }
Tensor operator*(In a, In b) { return record_binary<Multiply>("multiply", a, b); }
Tensor operator/(In a, In b) { return record_binary<Divide>("divide", a, b); }
Tensor operator-(In x) { return record(Negate{}, x); }

static Tensor constant(const Array& x, const In& other) { return Tensor(x, false, other.call()); }
Tensor operator+(In a, const Array& b) { return a + constant(b, a); }
Tensor operator-(In a, const Array& b) { return a - constant(b, a); }
Tensor operator*(In a, const Array& b) { return a * constant(b, a); }
Tensor operator/(In a, const Array& b) { return a / constant(b, a); }
Tensor operator+(const Array& a, In b) { return constant(a, b) + b; }
Tensor operator-(const Array& a, In b) { return constant(a, b) - b; }
Tensor operator*(const Array& a, In b) { return constant(a, b) * b; }
Tensor operator/(const Array& a, In b) { return constant(a, b) / b; }

Tensor operator+(In x, double c) { return record(AddConstant{static_cast<Real>(c)}, x); }
Tensor operator*(In x, double c) { return record(Scale{static_cast<Real>(c)}, x); }
Tensor operator/(In x, double c) { return record(DivideByConstant{static_cast<Real>(c)}, x); }
Tensor operator-(In x, double c) { return x + -c; }
Tensor operator+(double c, In x) { return x + c; }
Tensor operator-(double c, In x) { return -x + c; }
Tensor operator*(double c, In x) { return x * c; }
Tensor operator/(double c, In x) { return power(x, -1) * c; }

Tensor power(In x, double p) { return record(Power{p}, x); }
Tensor exp(In x) { return record(Exp{}, x); }
Tensor log(In x) { return record(Log{}, x); }
Tensor sqrt(In x) { return record(Sqrt{}, x); }
Tensor abs(In x) { return record(Abs{}, x); }
Tensor clamp(In x, double low, double high) {
  if (std::isnan(low) || std::isnan(high))
    throw_error("clamp: the limits of ", describe(x, "x"), " are ", low, " and ", high,
                "; give infinity for no limit");
  return record(Clamp{static_cast<Real>(low), static_cast<Real>(high)}, x);
}

}  // namespace HEED_NAMESPACE
