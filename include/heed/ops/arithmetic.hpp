// arithmetic.hpp: element by element, with shapes that broadcast.
#pragma once

#include "heed/autograd/tensor.hpp"

namespace heed {

// A tensor that knows where it is written: lets `a + b` remember its line of source.
struct Operand {
  Operand(const Tensor& x, SourceLocation current = SourceLocation::current())
      : tensor(x), location(current) {}
  const Tensor& tensor;
  SourceLocation location;
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
Tensor power(const Tensor& x, double p, SourceLocation location = SourceLocation::current());
Tensor exp(const Tensor& x, SourceLocation location = SourceLocation::current());
Tensor log(const Tensor& x, SourceLocation location = SourceLocation::current());  // natural
Tensor sqrt(const Tensor& x, SourceLocation location =
                                 SourceLocation::current());  // slope 1 / (2 sqrt(x)), inf at 0
Tensor abs(const Tensor& x, SourceLocation location = SourceLocation::current());  // slope 0 at 0

}  // namespace heed
