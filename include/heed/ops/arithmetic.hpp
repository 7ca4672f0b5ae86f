// arithmetic.hpp: element by element, with shapes that broadcast.
#pragma once

#include "heed/autograd/tensor.hpp"

namespace heed {

// A tensor that knows where it is written: lets `a + b` remember its line of source.
struct Operand {
  Operand(const Tensor& x, Where here = Where::here()) : tensor(x), where(here) {}
  const Tensor& tensor;
  Where where;
};

// Shapes broadcast as in NumPy: aligned at the right, sizes equal or 1.
// Error: "add: shapes do not broadcast: a (2, 3), b (4)".
Tensor operator+(Operand a, const Tensor& b);
Tensor operator-(Operand a, const Tensor& b);
Tensor operator*(Operand a, const Tensor& b);
Tensor operator/(Operand a, const Tensor& b);
Tensor operator-(Operand x);

Tensor operator+(Operand x, double c);
Tensor operator-(Operand x, double c);
Tensor operator*(Operand x, double c);
Tensor operator/(Operand x, double c);
Tensor operator+(double c, Operand x);
Tensor operator-(double c, Operand x);
Tensor operator*(double c, Operand x);
Tensor operator/(double c, Operand x);

// x^p for a constant p; the slope p x^(p-1) is 0 for p = 0.
Tensor power(const Tensor& x, double p, Where where = Where::here());
Tensor exp(const Tensor& x, Where where = Where::here());
Tensor log(const Tensor& x, Where where = Where::here());   // natural
Tensor sqrt(const Tensor& x, Where where = Where::here());  // slope 1 / (2 sqrt(x)), inf at 0
Tensor abs(const Tensor& x, Where where = Where::here());   // slope 0 at 0

}  // namespace heed
