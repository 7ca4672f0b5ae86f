// matmul.cpp: matrix products, and the linear map y = x W^T + b.

#include "heed/ops/matmul.hpp"

#include "array/reduce.hpp"
#include "heed/array/map.hpp"
#include "heed/autograd/record.hpp"
#include "heed/base/error.hpp"
#include "heed/gemm/gemm.hpp"
#include "heed/ops/shape.hpp"

namespace HEED_NAMESPACE {

// Y = A B, for every matrix of the batch
struct MatMul {
  static constexpr std::string_view name = "MatMul";
  Array forward(const Array& a, const Array& b) const {
    return matrix_product(a, Transpose::no, b, Transpose::no);
  }
  Grads<2> backward(const Array& dy, const Array&, const Array& a, const Array& b) const {
    const Array da = matrix_product(dy, Transpose::no, b, Transpose::yes);  // dA = dY B^T
    if (b.dimension() == 2) return {sum_to(da, a.shape()), all_batches(a, dy)};
    const Array db = matrix_product(a, Transpose::yes, dy, Transpose::no);  // dB = A^T dY
    return {sum_to(da, a.shape()), sum_to(db, b.shape())};
  }
  // dB = A^T dY if all batches share one B: one matrix product over the rows of all batches
  static Array all_batches(const Array& a, const Array& dy) {
    const std::size_t k = a.shape().back(), n = dy.shape().back();
    Array db = zeros({k, n});
    if (a.size() != 0 && n != 0) {
      const MatrixView rows{a.data(), a.size() / k, k, k}, d{dy.data(), a.size() / k, n, n};
      parallel_gemm(rows.transposed(), d, {db.data(), k, n, n});
    }
    return db;
  }
};

// y = x W^T + b, for every row x
struct Linear {
  static constexpr std::string_view name = "Linear";
  Array forward(const Array& x, const Array& weight, const Array& bias) const {
    const std::size_t out = weight.shape()[0], in = weight.shape()[1], rows = rows_of(x);
    Shape shape = x.shape();
    shape.back() = out;
    Array y = zeros_if(in == 0, shape);
    if (in != 0)
      parallel_gemm({x.data(), rows, in, in}, weight_of(weight).transposed(),
                    {y.data(), rows, out, out});
    if (!is_defined(bias)) return y;
    return map_broadcast([](Real v, Real b) { return v + b; }, y, bias, shape);
  }
  Grads<3> backward(const Array& dy, const Array&, const Array& x, const Array& weight,
                    const Array& bias) const {
    const std::size_t out = weight.shape()[0], in = weight.shape()[1], rows = rows_of(x);
    const bool empty = rows == 0 || out == 0;
    Array dx = zeros_if(empty, x.shape()), dweight = zeros_if(empty, weight.shape());
    if (!empty && in != 0) {
      const MatrixView d{dy.data(), rows, out, out};
      parallel_gemm(d, weight_of(weight), {dx.data(), rows, in, in});
      parallel_gemm(d.transposed(), {x.data(), rows, in, in}, {dweight.data(), out, in, in});
    }
    return {std::move(dx), std::move(dweight),
            !is_defined(bias) ? undefined_array() : sum_to(dy, bias.shape())};
  }  // dx = dy W, dW = dy^T x, db = sum over rows of dy

  static MatrixView weight_of(const Array& weight) {
    return {weight.data(), weight.shape()[0], weight.shape()[1], weight.shape()[1]};
  }
  static std::size_t rows_of(const Array& x) {
    return numel(Shape(x.shape().begin(), x.shape().end() - 1));
  }
  static Array zeros_if(bool empty, const Shape& shape) {
    return empty ? zeros(shape) : uninitialized(shape);
  }
};

static void check_factors(const Tensor& a, const Tensor& b) {
  const auto both = [&] { return describe(a, "a") + ", " + describe(b, "b"); };
  if (a.dim() == 0 || b.dim() == 0)
    throw_error("matmul: both factors need at least one axis: ", both());
  const std::size_t inner = b.dim() == 1 ? b.shape()[0] : b.shape()[b.dim() - 2];
  if (a.shape().back() != inner) throw_error("matmul: inner sizes differ: ", both());
  if (a.dim() < 3 || b.dim() < 3) return;
  const Shape batch_a(a.shape().begin(), a.shape().end() - 2);
  const Shape batch_b(b.shape().begin(), b.shape().end() - 2);
  if (!broadcast_shape(batch_a, batch_b)) throw_error("matmul: batches do not broadcast: ", both());
}

Tensor matmul(In a, In b) {
  check_factors(a, b);
  if (a.dim() == 1) return squeeze(matmul(unsqueeze(a, 0), b), b.dim() == 1 ? 0 : -2);
  if (b.dim() == 1) return squeeze(matmul(a, unsqueeze(b, 1)), -1);
  return record(MatMul{}, a, b);
}

Tensor linear(In x, In weight, In bias) {
  if (weight.dim() != 2)
    throw_error("linear: the weight must be (out, in): ", describe(weight, "weight"));
  if (x.dim() == 0 || x.shape().back() != weight.shape()[1])
    throw_error("linear: the last size of x must be the weight's second: ", describe(x, "x"), ", ",
                describe(weight, "weight"));
  if (bias.defined() && bias.shape() != Shape{weight.shape()[0]})
    throw_error("linear: the bias must have the weight's first size: ", describe(weight, "weight"),
                ", ", describe(bias, "bias"));
  return record(Linear{}, x, weight, bias);
}

}  // namespace HEED_NAMESPACE
