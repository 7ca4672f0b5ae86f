// indexing.cpp: one_hot, index_select, unbind, scatter, triu, flip, repeat and pad.

#include "heed/extra/indexing.hpp"

#include <algorithm>

#include "array/lines.hpp"
#include "array/reduce.hpp"
#include "heed/array/strided.hpp"
#include "heed/autograd/record.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/extra/several_results.hpp"
#include "heed/ops/mask.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"

namespace HEED_NAMESPACE {

Array one_hot(const IndicesIn& indices, std::int64_t num_classes) {
  const Shape given = shape_of(indices);
  if (num_classes == -1 && indices.size() == 0)
    throw_error("one_hot: num_classes does not follow from the indices ", str(given), "; give it");
  if (num_classes == -1) num_classes = *std::max_element(indices.begin(), indices.end()) + 1;
  for (const std::int64_t index : indices)
    if (index < 0 || index >= num_classes)
      throw_error("one_hot: index ", index, " among the indices ", str(given),
                  " is not from 0 to num_classes - 1 = ", num_classes - 1);
  Shape shape = given;
  shape.push_back(static_cast<std::size_t>(num_classes));
  Array result = zeros(shape);
  for (std::size_t i = 0; i < indices.size(); ++i)
    result.data()[static_cast<std::int64_t>(i) * num_classes + indices.data()[i]] = 1;
  return result;
}

// ---- index_select

// y = the parts x_j of x along one axis, with j = index_i
struct IndexSelect {
  static constexpr std::string_view name = "IndexSelect";
  Array forward(const Array& x) const {
    Shape shape = x.shape();
    shape[axis] = indices.size();
    Array y = uninitialized(shape);
    each_row(x, [&](std::size_t at_y, std::size_t at_x, std::size_t n) {
      std::copy_n(x.data() + at_x, n, y.data() + at_y);
    });
    return y;
  }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    std::vector<double> sums(x.size(), 0.0);  // in double, because a sum can have many terms
    each_row(x, [&](std::size_t at_y, std::size_t at_x, std::size_t n) {
      for (std::size_t c = 0; c < n; ++c)
        sums[at_x + c] += static_cast<double>(dy.data()[at_y + c]);
    });
    Array dx = uninitialized(x.shape());
    std::copy(sums.begin(), sums.end(), dx.data());
    return dx;  // dx_j = sum of dy_i over all i with index_i = j
  }
  // Calls body(offset in y, offset in x, n) for each index: n contiguous elements belong to it.
  template <class Body>
  void each_row(const Array& x, const Body& body) const {
    const Lines lines(x.shape(), axis);
    const std::size_t inner = lines.inner, outer = inner == 0 ? 0 : lines.count / inner;
    for (std::size_t o = 0; o < outer; ++o)
      for (std::size_t i = 0; i < indices.size(); ++i) {
        const auto j = static_cast<std::size_t>(indices.data()[i]);
        body((o * indices.size() + i) * inner, (o * lines.size + j) * inner, inner);
      }
  }
  Indices indices;
  std::size_t axis;
};

static void check_indices(std::string_view op, const Tensor& x, int axis, const Indices& indices) {
  const auto size = static_cast<std::int64_t>(x.size(axis));
  for (const std::int64_t index : indices)
    if (index < 0 || index >= size)
      throw_error(op, ": index ", index, " among indices ", str(shape_of(indices)),
                  " is out of range for axis ", axis, " of ", describe(x, "x"), "; use 0 to ",
                  size - 1);
}

Tensor index_select(In x, int axis, const Exact<Indices>& indices) {
  const std::size_t at = checked_axis("index_select", x, axis);
  if (x.dim() == 0 || indices.dimension() != 1)
    throw_error("index_select: the indices ", str(shape_of(indices)),
                " must have one axis, and at least one: ", describe(x, "x"));
  check_indices("index_select", x, axis, indices);
  return record(IndexSelect{indices, at}, x);
}

// ---- unbind

// y_i = the part x_i of x along one axis
struct Unbind {
  static constexpr std::string_view name = "Unbind";
  std::vector<Array> forward(const Array& x) const {
    std::vector<Array> parts;
    for (std::size_t i = 0; i < x.shape()[axis]; ++i) parts.push_back(read_view(x, view(x, i)));
    return parts;
  }
  Array backward(const std::vector<Array>& dy, const std::vector<Array>&, const Array& x) const {
    Array dx = uninitialized(x.shape());  // dx_i = dy_i
    for (std::size_t i = 0; i < dy.size(); ++i) write_view(dx, view(x, i), dy[i]);
    return dx;
  }
  StridedView view(const Array& x, std::size_t i) const {
    StridedView part{reduced_shape(x.shape(), {axis}, false), row_major_strides(x.shape()), 0};
    const auto at = part.strides.begin() + static_cast<std::ptrdiff_t>(axis);
    part.offset = static_cast<std::ptrdiff_t>(i) * *at;
    part.strides.erase(at);
    return part;
  }
  std::size_t axis;
};

std::vector<Tensor> unbind(In x, int axis) {
  if (x.dim() == 0) throw_error("unbind: ", describe(x, "x"), " has no axes");
  return record_several(Unbind{checked_axis("unbind", x, axis)}, x);
}

// ---- scatter

// y = x, except y_j = source_i (or x_j + source_i, if it adds) with j = index_i, along one axis
struct Scatter {
  static constexpr std::string_view name = "Scatter";
  Array forward(const Array& x, const Array& source) const {
    Array y = x;
    each(x, [&](std::size_t at_source, std::size_t at_x) {
      y.data()[at_x] = source.data()[at_source] + (adds ? y.data()[at_x] : Real{0});
    });
    return y;
  }
  Grads<2> backward(const Array& dy, const Array&, const Array& x, const Array& source) const {
    Array dx = dy, dsource = zeros(source.shape());
    if (adds) {
      each(x, [&](std::size_t i, std::size_t j) { dsource.data()[i] = dy.data()[j]; });
      return {dx, dsource};
    }
    std::vector<std::size_t> last(x.size());  // the source of each element that is replaced
    each(x, [&](std::size_t i, std::size_t j) { last[j] = i; });
    each(x, [&](std::size_t, std::size_t j) {
      dsource.data()[last[j]] = dy.data()[j];
      dx.data()[j] = 0;
    });
    return {dx, dsource};
  }                      // dsource_i = dy_j; dx_j = dy_j if it adds or j is no index, else 0
  template <class Body>  // calls body(offset in the source, offset in x) for each index
  void each(const Array& x, const Body& body) const {
    const Lines to(x.shape(), axis), from(shape_of(indices), axis);
    for (std::size_t line = 0; line < from.count; ++line)
      for (std::size_t i = 0; i < from.size; ++i) {
        const std::size_t at = from.start(line) + i * from.inner;
        const auto j = static_cast<std::size_t>(indices.data()[at]);
        body(at, to.start(line) + j * to.inner);
      }
  }
  Indices indices;
  std::size_t axis;
  bool adds;
};

static Tensor scattered(std::string_view op, const In& x, int axis, const Indices& indices,
                        const Tensor& source, bool adds) {
  const std::size_t at = checked_axis(op, x, axis);
  Shape expected = x.shape();
  const Shape shape = shape_of(indices);
  if (x.dim() != 0 && shape.size() == x.dim()) expected[at] = shape[at];
  if (x.dim() == 0 || shape != expected || source.shape() != shape)
    throw_error(op, ": the indices ", str(shape), " and ", describe(source, "source"),
                " must have one shape, that of ", describe(x, "x"), " except along axis ", axis);
  check_indices(op, x, axis, indices);
  return record(Scatter{indices, at, adds}, x, source);
}

Tensor scatter(In x, int axis, const Exact<Indices>& indices, In source) {
  return scattered("scatter", x, axis, indices, source, false);
}
Tensor scatter(In x, int axis, const Exact<Indices>& indices, double value) {
  const Tensor source(filled(shape_of(indices), static_cast<Real>(value)));
  return scattered("scatter", x, axis, indices, source, false);
}
Tensor scatter_add(In x, int axis, const Exact<Indices>& indices, In source) {
  return scattered("scatter_add", x, axis, indices, source, true);
}

// ---- triu, flip, repeat, pad

Tensor triu(In x, int diagonal) {
  if (x.dim() < 2) throw_error("triu: ", describe(x, "x"), " needs at least two axes");
  const std::size_t T = x.size(-2), S = x.size(-1);
  Mask below = mask({T, S});
  for (std::size_t i = 0; i < below.size(); ++i)
    below.data()[i] =
        static_cast<std::int64_t>(i % S) < static_cast<std::int64_t>(i / S) + diagonal;
  return masked_fill(x, below, 0);
}

// y = x read backwards along axes
struct Flip {
  static constexpr std::string_view name = "Flip";
  Array forward(const Array& x) const {
    StridedView view{x.shape(), row_major_strides(x.shape())};
    for (const std::size_t axis : axes) {
      view.offset += (static_cast<std::ptrdiff_t>(x.shape()[axis]) - 1) * view.strides[axis];
      view.strides[axis] *= -1;
    }
    return x.size() == 0 ? x : read_view(x, view);
  }
  Array backward(const Array& dy, const Array&, const Array&) const {
    return forward(dy);  // dx = dy read backwards
  }
  Axes axes;
};

Tensor flip(In x, const AxisList& axes) {
  const Axes checked = checked_axes("flip", x, axes);
  return record(Flip{axes.empty() ? Axes{} : checked}, x);
}

Tensor repeat(In x, const SizeList& sizes) {
  std::vector<std::string> texts;
  for (const std::int64_t size : sizes) texts.push_back(std::to_string(size));
  const bool negative = std::any_of(sizes.begin(), sizes.end(), [](auto n) { return n < 0; });
  if (negative || sizes.size() < x.dim())
    throw_error("repeat: (", joined(texts, ", "), ") for ", describe(x, "x"),
                " must have a size of 0 or more for each axis");
  SizeList split, expanded_to, joined_to;  // an axis n repeated r times: (1, n), (r, n), (r n)
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t added = sizes.size() - x.dim();
    const std::int64_t n = i < added ? 1 : static_cast<std::int64_t>(x.shape()[i - added]);
    for (const std::int64_t size : {std::int64_t{1}, n}) split.push_back(size);
    for (const std::int64_t size : {sizes[i], n}) expanded_to.push_back(size);
    numel({static_cast<std::size_t>(sizes[i]), static_cast<std::size_t>(n)});  // checks overflow
    joined_to.push_back(sizes[i] * n);
  }
  return reshape(expand(reshape(x, split), expanded_to), joined_to);
}

// y = x inside a view of y, a value elsewhere
struct Pad {
  static constexpr std::string_view name = "Pad";
  static constexpr bool may_write_infinity = true;  // -infinity can pad scores
  Array forward(const Array& x) const {
    Array y = filled(shape, value);
    write_view(y, view, x);
    return y;
  }
  Array backward(const Array& dy, const Array&, const Array&) const {
    return read_view(dy, view);  // dx = dy inside the view
  }
  Shape shape;
  StridedView view;
  Real value;
};

Tensor pad(In x, const SizeList& padding, double value) {
  if (padding.size() % 2 != 0 || padding.size() / 2 > x.dim())
    throw_error("pad: ", padding.size(), " numbers for ", describe(x, "x"),
                "; give two per axis, before and after it, the last axis first");
  Tensor kept = x;  // without what a negative number removes
  Shape shape = x.shape();
  std::vector<std::ptrdiff_t> begins(x.dim(), 0);
  for (std::size_t i = 0; i < padding.size() / 2; ++i) {
    const std::size_t axis = x.dim() - 1 - i;
    const std::int64_t before = padding[2 * i], after = padding[2 * i + 1];
    const auto size = static_cast<std::int64_t>(shape[axis]);
    if (before < -size || after < -size || size + before + after < 0)
      throw_error("pad: ", before, " and ", after, " elements at axis ", axis, " of ",
                  describe(x, "x"), " give a negative size");
    if (before < 0 || after < 0)
      kept = slice(kept, static_cast<int>(axis), std::max<std::int64_t>(-before, 0),
                   size + std::min<std::int64_t>(after, 0));
    begins[axis] = std::max<std::int64_t>(before, 0);
    shape[axis] = static_cast<std::size_t>(size + before + after);
    numel(shape);  // throws before the sizes can overflow
  }
  StridedView view{kept.shape(), row_major_strides(shape), 0};
  for (std::size_t axis = 0; axis < begins.size(); ++axis)
    view.offset += begins[axis] * view.strides[axis];
  return record(Pad{shape, view, static_cast<Real>(value)}, In(kept));
}

}  // namespace HEED_NAMESPACE
