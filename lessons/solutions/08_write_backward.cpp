// 08 write_backward: the way back through tanh, and through a softmax.
//
// Each function is given what arrives at its result y (dy, one slope for each number of y) and y
// itself, and returns dx, the slopes along the x that y was made from. All three have one shape.
//
//   tanh      y_i = tanh(x_i). The slope of tanh is 1 - tanh^2.
//   softmax   each row of y (rows, columns) is the softmax of that row of x. Raise x_j by a tiny h:
//             every y_k of the row loses h y_k y_j, and y_j also gains h y_j.
//
// As it stands, both slopes are wrong, and in softmax each number goes back alone. The judge nudges
// every x.
// Hint: Tanh needs no x: its slope is made of y. And what arrives counts: dx = dy times the slope.
// Hint: Moving x_j moves all of its row. Add up, over all k, dy_k times how fast y_k follows x_j.
// Hint: In that sum, the part with y_k y_j is y_j times a number that all j of the row share.

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
Array tanh_backward(const Array& dy, const Array& y) { return dy * (1 - y * y); }

Array softmax_backward(const Array& dy, const Array& y) {
  Array dx = zeros({y.shape(0), y.shape(1)});
  for (std::size_t i = 0; i < y.shape(0); ++i) {
    Real average = 0;
    for (std::size_t k = 0; k < y.shape(1); ++k) average += dy(i, k) * y(i, k);
    for (std::size_t j = 0; j < y.shape(1); ++j) dx(i, j) = y(i, j) * (dy(i, j) - average);
  }
  return dx;
}
// Your part ends here.
