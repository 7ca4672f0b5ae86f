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

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
Array tanh_backward(const Array& dy, const Array& y) { return dy * y; }

Array softmax_backward(const Array& dy, const Array& y) { return dy * y; }
// Your part ends here.
