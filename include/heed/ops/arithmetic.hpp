// arithmetic.hpp: elementwise arithmetic: + - * / with broadcasting, power, exp, log, sqrt, abs,
// clamp.
#pragma once

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// Shapes broadcast as in NumPy: they are aligned at the right, and two sizes must be equal, or one
// of them 1. Throws Error, such as "add: shapes do not broadcast: a (2, 3), b (4)".
Tensor operator+(In a, In b);
Tensor operator-(In a, In b);
Tensor operator*(In a, In b);
Tensor operator/(In a, In b);
Tensor operator-(In x);

// An operand of type Array is a constant: no gradient is computed for the Array.
Tensor operator+(In a, const Array& b);
Tensor operator-(In a, const Array& b);
Tensor operator*(In a, const Array& b);
Tensor operator/(In a, const Array& b);
Tensor operator+(const Array& a, In b);
Tensor operator-(const Array& a, In b);
Tensor operator*(const Array& a, In b);
Tensor operator/(const Array& a, In b);

// The constant c is the other operand for every element of x.
Tensor operator+(In x, double c);
Tensor operator-(In x, double c);
Tensor operator*(In x, double c);
Tensor operator/(In x, double c);
Tensor operator+(double c, In x);
Tensor operator-(double c, In x);
Tensor operator*(double c, In x);
Tensor operator/(double c, In x);

// x^p for a constant p; the derivative p x^(p-1) is 0 for p = 0.
Tensor power(In x, double p);
Tensor exp(In x);
// log is the natural logarithm. At 0, the derivative of sqrt is inf and the derivative of abs is 0.
Tensor log(In x);
Tensor sqrt(In x);
Tensor abs(In x);
// min(max(x, low), high); the gradient is 0 where x is outside [low, high]. NaN stays NaN, with
// gradient 0. If low is above high, all elements become high, as in PyTorch. Use infinity for no
// limit. Throws Error for a limit that is NaN.
Tensor clamp(In x, double low, double high);

}  // namespace HEED_NAMESPACE
