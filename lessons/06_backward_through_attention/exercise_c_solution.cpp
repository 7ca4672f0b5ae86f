// 06c wrong_sign: three operations of your own, and a wrong sign in one of their gradients.
//
// Each struct below is an operation of the autograd engine: forward computes y, backward returns
// the gradient of each input from the upstream gradient dy, y and the inputs. attend() computes
// attention with them:
//
//   A = softmax of each row of Q K^T / sqrt(d_k)     Q (T, d_k), K (S, d_k), A (T, S)
//   O = A V                                          V (S, d_v), O (T, d_v)
//
// O is right, but some gradients of Q, K and V are wrong. Find the operation that passes a wrong
// gradient on, and repair its backward. In gdb (./heed debug exercise 6c), `heed step` runs to the
// backward of the next node, `heed check` compares the gradients that it returns with central
// differences, `heed out` prints them, and `heed why Q` lists where the gradient of Q came from.

#include <cmath>

#include "exercise.hpp"
#include "heed/array/map.hpp"
#include "heed/autograd/record.hpp"
#include "heed/ops/shape.hpp"

using namespace heed;
using xt::linalg::dot;

// Your part begins here.
// y = a b, matrices
struct Product {
  static constexpr std::string_view name = "Product";
  Array forward(const Array& a, const Array& b) const { return dot(a, b); }
  Grads<2> backward(const Array& dy, const Array&, const Array& a, const Array& b) const {
    return {dot(dy, xt::transpose(b)), dot(xt::transpose(a), dy)};
  }
};

// y = x / sqrt(width)
struct Scaling {
  static constexpr std::string_view name = "Scaling";
  Array forward(const Array& x) const { return x / std::sqrt(width); }
  Array backward(const Array& dy, const Array&, const Array&) const {
    return dy / std::sqrt(width);
  }
  Real width;
};

// y_ij = exp(x_ij) / sum over k of exp(x_ik)
struct RowSoftmax {
  static constexpr std::string_view name = "RowSoftmax";
  Array forward(const Array& x) const {
    Array y = xt::exp(x);
    for (std::size_t i = 0; i < y.shape(0); ++i) {
      Real sum = 0;
      for (std::size_t j = 0; j < y.shape(1); ++j) sum += y(i, j);
      for (std::size_t j = 0; j < y.shape(1); ++j) y(i, j) /= sum;
    }
    return y;
  }
  Array backward(const Array& dy, const Array& y, const Array&) const {
    Array dx = y * dy;
    for (std::size_t i = 0; i < y.shape(0); ++i) {
      Real average = 0;  // of row i of dy, weighted by y
      for (std::size_t j = 0; j < y.shape(1); ++j) average += y(i, j) * dy(i, j);
      for (std::size_t j = 0; j < y.shape(1); ++j) dx(i, j) -= y(i, j) * average;
    }
    return dx;
  }
};
// Your part ends here.

Tensor product(const Tensor& a, const Tensor& b,
               SourceLocation location = SourceLocation::current()) {
  return record(Product{}, location, a, b);
}

Tensor scaled(const Tensor& x, Real width, SourceLocation location = SourceLocation::current()) {
  return record(Scaling{width}, location, x);
}

Tensor row_softmax(const Tensor& x, SourceLocation location = SourceLocation::current()) {
  return record(RowSoftmax{}, location, x);
}

Tensor attend(const Tensor& Q, const Tensor& K, const Tensor& V) {
  const Tensor products = product(Q, transpose(K, 0, 1)).set_name("Q K^T");  // (T, S)
  const Tensor S = scaled(products, Real(Q.size(-1))).set_name("S");
  const Tensor A = row_softmax(S).set_name("A");
  return product(A, V).set_name("O");  // (T, d_v)
}
