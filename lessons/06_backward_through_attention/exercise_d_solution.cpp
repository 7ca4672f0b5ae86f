// 06d late_error: a wrong gradient that shows only after a while.
//
// The Huber loss is half the square of a small error and grows like the absolute value of a large
// one, so that a few outliers do not dominate the training (Huber 1964):
//
//   y = e^2 / 2 if |e| <= 1, else |e| - 1/2
//
// As handed out, the output is right. The loss of an attention head falls for 40 steps of gradient
// descent with momentum, and then rises without end. In gdb (./heed debug exercise 6d), `heed goto
// 40` goes to the beginning of the backward pass of step 40, `heed step Huber` to the operation,
// and `heed check` compares its gradient with central differences. Find the first step at which it
// is wrong, what the errors e of that step have that earlier ones have not, and repair backward.

#include <cmath>

#include "exercise.hpp"
#include "heed/autograd/record.hpp"

using namespace heed;

// Your part begins here.
struct Huber {
  static constexpr std::string_view name = "Huber";
  Array forward(const Array& e) const {
    Array y = e;
    for (Real& value : y) {
      const Real size = std::abs(value);
      value = size <= 1 ? size * size / 2 : size - Real(0.5);
    }
    return y;
  }
  Array backward(const Array& dy, const Array&, const Array& e) const {
    Array dx = dy;
    for (std::size_t i = 0; i < e.size(); ++i) {
      const Real error = e.data()[i];
      dx.data()[i] *= std::abs(error) <= 1 ? error : std::copysign(Real(1), error);
    }
    return dx;
  }
};
// Your part ends here.

Tensor huber(In e) { return record(Huber{}, e); }
