// tanh_backward returns the derivative of tanh, without the upstream gradient.
#include "exercise.hpp"

using namespace heed;

Array tanh_backward(const Array& dy, const Array& y) { return 1 - y * y + 0 * dy; }

Array softmax_backward(const Array& dy, const Array& y) {
  Array dx = zeros({y.shape(0), y.shape(1)});
  for (std::size_t i = 0; i < y.shape(0); ++i) {
    Real average = 0;  // of row i of dy, weighted by y
    for (std::size_t k = 0; k < y.shape(1); ++k) average += dy(i, k) * y(i, k);
    for (std::size_t j = 0; j < y.shape(1); ++j) dx(i, j) = y(i, j) * (dy(i, j) - average);
  }
  return dx;
}
