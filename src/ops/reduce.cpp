// reduce.cpp: sum, mean, max and variance over axes, argmax, gather and topk.

#include "heed/ops/reduce.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "array/lines.hpp"
#include "array/reduce.hpp"
#include "heed/array/map.hpp"
#include "heed/autograd/record.hpp"
#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {

// The number of elements of x that are reduced to one element.
static Real count_over(const Array& x, const Axes& axes) {
  Real n = 1;
  for (const std::size_t axis : axes) n *= static_cast<Real>(x.shape()[axis]);
  return n;
}

// Expands dy, the gradient of a reduction of x over `axes`, to x's shape.
static Array expand_reduced(const Array& dy, const Array& x, const Axes& axes) {
  return expanded(reshaped(dy, reduced_shape(x.shape(), axes, true)), x.shape());
}

// y = sum_i x_i
struct Sum {
  static constexpr std::string_view name = "Sum";
  Array forward(const Array& x) const { return sum_over(x, axes, keepdim); }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    return expand_reduced(dy, x, axes);  // dx_i = dy
  }
  Axes axes;
  bool keepdim;
};

// y = (1/n) sum_i x_i
struct Mean {
  static constexpr std::string_view name = "Mean";
  Array forward(const Array& x) const {
    const Real n = count_over(x, axes);
    return map([n](auto s) { return s / n; }, sum_over(x, axes, keepdim));
  }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    const Real n = count_over(x, axes);
    return map([n](auto d) { return d / n; }, expand_reduced(dy, x, axes));  // dx_i = dy / n
  }
  Axes axes;
  bool keepdim;
};

// y = max_i x_i
struct Max {
  static constexpr std::string_view name = "Max";
  Array forward(const Array& x) const { return max_over(x, axes, keepdim); }
  Array backward(const Array& dy, const Array& y, const Array& x) const {
    const Array maxima =
        map([](auto v, auto max) { return is_max(v, max); }, x, expand_reduced(y, x, axes));
    const Array max_count = expand_reduced(sum_over(maxima, axes, true), x, axes);
    return map([](auto d, auto m, auto n) { return d * m / n; }, expand_reduced(dy, x, axes),
               maxima, max_count);
  }                                       // dx_i = dy / (number of maxima) where x_i = y, else 0
  static Pack is_max(Pack v, Pack max) {  // if x contains a NaN, the maximum is NaN
    return xsimd::select((v == max) || (xsimd::isnan(v) && xsimd::isnan(max)), Pack(1), Pack(0));
  }
  Axes axes;
  bool keepdim;
};

// y = sum_i (x_i - mean)^2 / (n - correction)
struct Variance {
  static constexpr std::string_view name = "Variance";
  Array forward(const Array& x) const {
    const Array d = deviations(x);
    const Real n = std::max(count_over(x, axes) - correction, Real{0});
    return map([n](auto s) { return s / n; },
               sum_over(map([](auto v) { return v * v; }, d), axes, keepdim));
  }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    const Real n = std::max(count_over(x, axes) - correction, Real{0});
    return map([n](auto d, auto v) { return d * (v + v) / n; }, expand_reduced(dy, x, axes),
               deviations(x));
  }  // dx_i = dy 2 (x_i - mean) / (n - correction)
  // Subtracts the mean twice, because the first mean of large numbers has a rounding error.
  Array deviations(const Array& x) const { return centered(centered(x)); }
  Array centered(const Array& x) const {
    const Real n = count_over(x, axes);
    return map([n](auto v, auto s) { return v - s / n; }, x,
               expand_reduced(sum_over(x, axes, true), x, axes));
  }
  Axes axes;
  bool keepdim;
  Real correction;
};

Tensor sum(In x, const AxisList& axes, Bool keepdim) {
  return record(Sum{checked_axes("sum", x, axes), keepdim}, x);
}

Tensor mean(In x, const AxisList& axes, Bool keepdim) {
  return record(Mean{checked_axes("mean", x, axes), keepdim}, x);
}

Tensor max(In x, const AxisList& axes, Bool keepdim) {
  const Axes checked = checked_axes("max", x, axes);
  if (x.value().size() == 0 && numel(reduced_shape(x.shape(), checked, true)) != 0)
    throw_error("max: no elements to compare in ", describe(x, "x"));
  return record(Max{checked, keepdim}, x);
}

Tensor variance(In x, const AxisList& axes, Bool unbiased, Bool keepdim) {
  const Axes checked = checked_axes("variance", x, axes);
  return record(Variance{checked, keepdim, unbiased ? Real{1} : Real{0}}, x);
}

Indices argmax(In x, int axis) {
  const std::size_t at = checked_axis("argmax", x, axis);
  const Lines lines(x.shape(), at);
  if (lines.size == 0) throw_error("argmax: no elements to compare in ", describe(x, "x"));
  const Shape shape = reduced_shape(x.shape(), {at}, false);
  Indices result = indices(shape);
  for (std::size_t line = 0; line < lines.count; ++line) {
    const Real* const row = x.value().data() + lines.start(line);
    std::size_t best = 0;
    for (std::size_t j = 1; j < lines.size && !std::isnan(row[best * lines.inner]); ++j)
      if (!(row[j * lines.inner] <= row[best * lines.inner])) best = j;  // NaN is the largest
    result.data()[line] = static_cast<std::int64_t>(best);
  }
  return result;
}

// ---- gather, topk

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
