// Tests exercise 05 write_backward: compares the gradients of tanh and softmax with finite
// differences.

#include <cmath>
#include <functional>

#include "exercise.hpp"

using namespace heed;

Array tanh_backward(const Array& dy, const Array& y);
Array softmax_backward(const Array& dy, const Array& y);

using Doubles = xt::xarray<double>;
using ArrayFunction = std::function<Doubles(const Doubles&)>;

Doubles tanh_of(const Doubles& x) {
  Doubles y = x;
  for (double& value : y) value = std::tanh(value);
  return y;
}

Doubles softmax_of(const Doubles& x) {
  Doubles y = x;
  for (std::size_t i = 0; i < x.shape(0); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < x.shape(1); ++j) sum += std::exp(x(i, j));
    for (std::size_t j = 0; j < x.shape(1); ++j) y(i, j) = std::exp(x(i, j)) / sum;
  }
  return y;
}

// The sum of y times the upstream gradient. Its gradient with respect to x is dx.
double loss(const ArrayFunction& f, const Doubles& x, const Array& dy) {
  const Doubles y = f(x);
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += y.data()[i] * dy.data()[i];
  return sum;
}

Array finite_differences(const ArrayFunction& f, const Array& x, const Array& dy) {
  const double h = 1e-5;
  Array dx = dy;
  for (std::size_t i = 0; i < x.size(); ++i) {
    Doubles above = x, below = x;
    above.data()[i] += h;
    below.data()[i] -= h;
    dx.data()[i] = static_cast<Real>((loss(f, above, dy) - loss(f, below, dy)) / (2 * h));
  }
  return dx;
}

int main() {
  Generator g(8);
  for (const Shape& shape : {Shape{3, 4}, Shape{1, 5}, Shape{4, 2}}) {
    const Array x = g.randn(shape), dy = g.randn(shape);
    const std::string size = std::to_string(shape[0]) + " by " + std::to_string(shape[1]);
    const Array activations = tanh_of(x), weights = softmax_of(x);
    expect("tanh, " + size, tanh_backward(dy, activations), finite_differences(tanh_of, x, dy));
    expect("softmax, " + size, softmax_backward(dy, weights),
           finite_differences(softmax_of, x, dy));
  }

  const Array x = g.randn({3, 4}), weights = softmax_of(x);
  const Array sums = xt::sum(softmax_backward(g.randn({3, 4}), weights), {1});
  expect("softmax: each row of dx sums to zero", sums, zeros({3}));
  expect("softmax: dx is zero if all numbers of dy are equal",
         softmax_backward(ones({3, 4}) * 5, weights), zeros({3, 4}));
  return verdict();
}
