// gather.cpp: gather (elements by index along an axis) and topk (the largest elements).

#include <algorithm>
#include <cmath>
#include <numeric>

#include "array/lines.hpp"
#include "heed/autograd/record.hpp"
#include "heed/base/error.hpp"
#include "heed/ops/reduce.hpp"

namespace HEED_NAMESPACE {

// y_i = x_j with j = index_i, along one axis
struct Gather {
  static constexpr std::string_view name = "Gather";
  Array forward(const Array& x) const {
    Array y = uninitialized(shape_of(indices));
    each(x, [&](std::size_t at_y, std::size_t at_x) { y.data()[at_y] = x.data()[at_x]; });
    return y;
  }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    Array dx = zeros(x.shape());
    each(x, [&](std::size_t at_y, std::size_t at_x) { dx.data()[at_x] += dy.data()[at_y]; });
    return dx;  // dx_j = sum of dy_i over all i with index_i = j
  }
  template <class Body>  // calls body(offset in y, offset in x) for each index
  void each(const Array& x, const Body& body) const {
    const Lines from(x.shape(), axis), to(shape_of(indices), axis);
    for (std::size_t line = 0; line < to.count; ++line)
      for (std::size_t i = 0; i < to.size; ++i) {
        const std::size_t at_y = to.start(line) + i * to.inner;
        const auto j = static_cast<std::size_t>(indices.data()[at_y]);
        body(at_y, from.start(line) + j * from.inner);
      }
  }
  Indices indices;
  std::size_t axis;
};

Tensor gather(In x, int axis, const Exact<Indices>& indices) {
  const std::size_t at = checked_axis("gather", x, axis);
  Shape expected = x.shape();
  const Shape shape = shape_of(indices);
  if (x.dim() == 0 || shape.size() != x.dim())
    throw_error("gather: the indices ", str(shape), " need as many axes as ", describe(x, "x"),
                ", at least one");
  expected[at] = shape[at];
  if (shape != expected)
    throw_error("gather: the indices ", str(shape), " and ", describe(x, "x"),
                " must have equal sizes, except along axis ", axis);
  const auto size = static_cast<std::int64_t>(x.shape()[at]);
  for (const std::int64_t index : indices)
    if (index < 0 || index >= size)
      throw_error("gather: index ", index, " is out of range for axis ", axis, " of ",
                  describe(x, "x"), "; use 0 to ", size - 1);
  return record(Gather{indices, at}, x);
}

// The indices of the k largest elements of a 1-D slice, in descending order. NaN comes first.
static std::vector<std::size_t> largest(const Real* x, std::size_t n, std::size_t stride,
                                        std::size_t k) {
  const auto value = [&](std::size_t i) { return x[i * stride]; };
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::isnan(value(a)) ? !std::isnan(value(b)) : value(a) > value(b);
  });
  order.resize(k);
  return order;
}

TopK topk(In x, std::size_t k, int axis) {
  const std::size_t at = checked_axis("topk", x, axis);
  if (x.dim() == 0) throw_error("topk: ", describe(x, "x"), " has no axis; give a tensor with one");
  if (k > x.shape()[at])
    throw_error("topk: k = ", k, " must be from 0 to the size of axis ", axis, " of ",
                describe(x, "x"));
  const Lines lines(x.shape(), at);
  Shape shape = x.shape();
  shape[at] = k;
  const Lines found(shape, at);
  Indices found_at = indices(shape);
  for (std::size_t line = 0; line < lines.count; ++line) {
    const auto order = largest(x.value().data() + lines.start(line), lines.size, lines.inner, k);
    for (std::size_t i = 0; i < k; ++i)
      found_at.data()[found.start(line) + i * found.inner] = static_cast<std::int64_t>(order[i]);
  }
  return {gather(x, axis, found_at), found_at};
}

}  // namespace HEED_NAMESPACE
