// elementwise.hpp: more functions of each element (pow, sin, cos, erf, softplus, leaky_relu, elu),
// and the operators += -= *= /=.
#pragma once

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// a^b elementwise; shapes broadcast. With a number as exponent, pow is power() of arithmetic.hpp.
// As in PyTorch, the derivative a^b ln a with respect to b is 0 where a = 0 and b >= 0. Throws
// Error if the shapes do not broadcast.
Tensor pow(In a, In b);
Tensor pow(In a, double b);
Tensor pow(double a, In b);

// Angles are in radians.
Tensor sin(In x);
Tensor cos(In x);
// The error function 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x.
Tensor erf(In x);

// ln(1 + e^(beta x)) / beta, a smooth relu(x); x itself where beta x > threshold, as in PyTorch.
Tensor softplus(In x, double beta = 1, double threshold = 20);
// x where x > 0, else negative_slope x, which is also the derivative at 0.
Tensor leaky_relu(In x, double negative_slope = 0.01);
// x where x > 0, else alpha (e^x - 1). Clevert et al. 2016, "Fast and Accurate Deep Network
// Learning by Exponential Linear Units", equation 15.
Tensor elu(In x, double alpha = 1);

// A number as x += 2 takes it: it knows the location of the call (see In).
class NumberIn {
 public:
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, bool>>>
  NumberIn(T number, SourceLocation call = SourceLocation::current())
      : value(static_cast<double>(number)), site_(call) {}
  double value;

 private:
  CallSite site_;
};

// x += y is x = x + y: x becomes a handle to a new tensor, and other handles to the old one keep
// its value. (PyTorch changes the value in place, and so for all of them.) Throws Error, as
// PyTorch, if x is a leaf that requires a gradient: an optimizer would not see the new tensor.
// w.mutable_value() changes a parameter's value.
Tensor& operator+=(Tensor& x, In y);
Tensor& operator-=(Tensor& x, In y);
Tensor& operator*=(Tensor& x, In y);
Tensor& operator/=(Tensor& x, In y);
Tensor& operator+=(Tensor& x, const NumberIn& y);
Tensor& operator-=(Tensor& x, const NumberIn& y);
Tensor& operator*=(Tensor& x, const NumberIn& y);
Tensor& operator/=(Tensor& x, const NumberIn& y);

}  // namespace HEED_NAMESPACE
