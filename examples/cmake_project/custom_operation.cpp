// custom_operation.cpp: defines a new operation (the Swish activation) and checks its gradient.
#include <heed/heed.hpp>
#include <iostream>
using namespace heed;

// y = x s(x) with s(x) = 1 / (1 + e^(-b x)): the Swish activation (Ramachandran, Zoph and Le 2017)
struct Swish {
  static constexpr std::string_view name = "Swish";
  Array forward(const Array& x) const { return x * s(x); }
  Array backward(const Array& dy, const Array& y, const Array& x) const {
    const Array p = s(x);
    return dy * (p + b * y * (1 - p));  // dx = dy (s + b y (1 - s))
  }
  Array s(const Array& x) const { return 1 / (1 + xt::exp(-b * x)); }
  Real b;
};

Tensor swish(const Tensor& x, double b = 1, SourceLocation location = SourceLocation::current()) {
  return record(Swish{Real(b)}, location, x);
}

int main() {
  Generator generator(0);
  const auto f = [](const std::vector<Tensor>& in) { return swish(in[0], 1.5); };
  const GradcheckResult right = gradcheck(f, {generator.randn({3, 5})});
  std::cout << (right ? "the gradient is right: " : "the gradient is wrong: ") << right.message << '\n';
  const Tensor x(array2d({{-2, 0, 2}}), true);
  const Tensor y = swish(x);
  sum(y).backward();
  std::cout << y << '\n' << x.grad() << '\n';
  return right ? 0 : 1;
}
