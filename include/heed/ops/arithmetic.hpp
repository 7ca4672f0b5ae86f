// arithmetic.hpp: elementwise arithmetic: + - * / with broadcasting, power, exp, log, sqrt, abs,
// clamp.
#pragma once

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// An operand of an expression such as `a + b`, and the source location, which the new node records.
struct Operand {
  // Converts a Tensor to an Operand. The default of `current` is the location of the expression.
  Operand(const Tensor& x, SourceLocation current = SourceLocation::current())
      : tensor(x), location(current) {}
  const Tensor& tensor;     // the operand, which must outlive the expression
  SourceLocation location;  // the location of the expression
};

// Shapes broadcast as in NumPy: they are aligned at the right, and two sizes must be equal, or one
// of them 1. Throws Error, such as "add: shapes do not broadcast: a (2, 3), b (4)".
Tensor operator+(Operand a, const Tensor& b);
Tensor operator-(Operand a, const Tensor& b);
Tensor operator*(Operand a, const Tensor& b);
Tensor operator/(Operand a, const Tensor& b);
Tensor operator-(Operand x);

// An operand of type Array is a constant: no gradient is computed for the Array.
Tensor operator+(Operand a, const Array& b);
Tensor operator-(Operand a, const Array& b);
Tensor operator*(Operand a, const Array& b);
Tensor operator/(Operand a, const Array& b);
Tensor operator+(const Array& a, Operand b);
Tensor operator-(const Array& a, Operand b);
Tensor operator*(const Array& a, Operand b);
Tensor operator/(const Array& a, Operand b);

// The constant c is the other operand for every element of x.
Tensor operator+(Operand x, double c);
Tensor operator-(Operand x, double c);
Tensor operator*(Operand x, double c);
Tensor operator/(Operand x, double c);
Tensor operator+(double c, Operand x);
Tensor operator-(double c, Operand x);
Tensor operator*(double c, Operand x);
Tensor operator/(double c, Operand x);

// x^p for a constant p; the derivative p x^(p-1) is 0 for p = 0.
Tensor power(const Tensor& x, double p, SourceLocation location = SourceLocation::current());
Tensor exp(const Tensor& x, SourceLocation location = SourceLocation::current());
// log is the natural logarithm. At 0, the derivative of sqrt is inf and the derivative of abs is 0.
Tensor log(const Tensor& x, SourceLocation location = SourceLocation::current());
Tensor sqrt(const Tensor& x, SourceLocation location = SourceLocation::current());
Tensor abs(const Tensor& x, SourceLocation location = SourceLocation::current());
// min(max(x, low), high); the gradient is 0 where x is outside [low, high]. NaN stays NaN, with
// gradient 0. If low is above high, all elements become high, as in PyTorch. Use infinity for no
// limit. Throws Error for a limit that is NaN.
Tensor clamp(const Tensor& x, double low, double high,
             SourceLocation location = SourceLocation::current());

}  // namespace HEED_NAMESPACE

// xtensor's operators accept an Array and any other type, which they treat as a scalar. For an
// Array and a Tensor, the compiler would prefer xtensor's operators to the operators above, which
// require a conversion to Operand. The specialisations below have no member `type`, and therefore
// xtensor's operators do not accept a Tensor.
namespace xt::detail {
template <class F, class E>
struct xfunction_type<F, HEED_NAMESPACE::Tensor, E> {};
template <class F, class E>
struct xfunction_type<F, HEED_NAMESPACE::Tensor&, E> {};
template <class F, class E>
struct xfunction_type<F, const HEED_NAMESPACE::Tensor&, E> {};
template <class F, class E>
struct xfunction_type<F, E, HEED_NAMESPACE::Tensor> {};
template <class F, class E>
struct xfunction_type<F, E, HEED_NAMESPACE::Tensor&> {};
template <class F, class E>
struct xfunction_type<F, E, const HEED_NAMESPACE::Tensor&> {};
}  // namespace xt::detail
