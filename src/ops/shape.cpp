// shape.cpp: reshape, expand, transpose, slice, concat, split and their derivatives.

#include "heed/ops/shape.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "array/reduce.hpp"
#include "heed/array/strided.hpp"
#include "heed/autograd/record.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {

// y = x with another shape, in the same row-major order
struct Reshape {
  static constexpr std::string_view name = "Reshape";
  Array forward(const Array& x) const { return reshaped(x, shape); }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    return reshaped(dy, x.shape());  // dx = dy with x's shape
  }
  Shape shape;
};

// y = x broadcast along axes of size 1
struct Expand {
  static constexpr std::string_view name = "Expand";
  Array forward(const Array& x) const { return expanded(x, shape); }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    return sum_to(dy, x.shape());  // dx = dy summed over the repeated axes
  }
  Shape shape;
};

// y = x with permuted axes: axis k of y is axis order[k] of x
struct Permute {
  static constexpr std::string_view name = "Permute";
  Array forward(const Array& x) const { return permuted(x, order); }
  Array backward(const Array& dy, const Array&, const Array&) const {
    std::vector<std::size_t> inverse(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) inverse[order[k]] = k;
    return permuted(dy, inverse);  // dx = dy with the axes permuted back
  }
  std::vector<std::size_t> order;
};

// y = the elements of a strided view of x
struct Slice {
  static constexpr std::string_view name = "Slice";
  Array forward(const Array& x) const { return read_view(x, view); }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    Array dx = zeros(x.shape());
    add_to_view(dx, view, dy);  // dx = dy inside the view, 0 elsewhere
    return dx;
  }
  StridedView view;
};

// y = the parts concatenated along an axis
struct Concat {
  static constexpr std::string_view name = "Concat";
  Array forward(const ArrayList& parts) const {
    Array y = uninitialized(shape);
    for (std::size_t i = 0; i < parts.size(); ++i) write_view(y, views[i], parts[i]);
    return y;
  }
  std::vector<Array> backward(const Array& dy, const Array&, const ArrayList&) const {
    std::vector<Array> parts;  // the gradient of a part is its slice of dy
    for (const StridedView& view : views) parts.push_back(read_view(dy, view));
    return parts;
  }
  Shape shape;
  std::vector<StridedView> views;
};

// ---- reshape, squeeze, unsqueeze, expand

// Returns `sizes` with -1 replaced by the size that follows from the number of elements.
static Shape inferred_shape(const Tensor& x, const SizeList& sizes) {
  const auto fail = [&](const char* why) {
    std::vector<std::string> texts;
    for (const std::int64_t size : sizes) texts.push_back(std::to_string(size));
    throw_error("reshape: ", describe(x, "x"), " cannot become (", joined(texts, ", "), "): ", why);
  };
  Shape shape;
  for (const std::int64_t size : sizes) {
    if (size < -1) fail("each size must be 0 or more; one size may be -1");
    shape.push_back(size == -1 ? 0 : static_cast<std::size_t>(size));
  }
  Shape given = shape;
  for (std::size_t i = 0; i < given.size(); ++i)
    if (sizes[i] == -1) given[i] = 1;
  const std::size_t known = numel(given);
  const std::size_t elements = x.value().size();
  const auto unknown = std::find(sizes.begin(), sizes.end(), -1);
  if (unknown == sizes.end()) {
    if (known != elements) fail("the number of elements differs");
    return shape;
  }
  if (std::count(sizes.begin(), sizes.end(), -1) > 1) fail("only one size may be -1");
  if (known == 0 || elements % known != 0)
    fail("the number of elements is not divisible by the product of the other sizes");
  shape[static_cast<std::size_t>(unknown - sizes.begin())] = elements / known;
  return shape;
}

Tensor reshape(In x, const SizeList& shape) { return record(Reshape{inferred_shape(x, shape)}, x); }

Tensor squeeze(In x, int axis) {
  const std::size_t at = checked_axis("squeeze", x, axis);
  if (x.dim() == 0 || x.shape()[at] != 1) return x;
  return record(Reshape{reduced_shape(x.shape(), {at}, false)}, x);
}

// Returns `axis` as a non-negative axis of the result, which has one axis more than x.
static std::size_t new_axis(std::string_view op, const Tensor& x, int axis) {
  Shape larger = x.shape();
  larger.push_back(1);
  return checked_axis(op, larger, axis, "the result");
}

Tensor unsqueeze(In x, int axis) {
  const auto at = static_cast<std::ptrdiff_t>(new_axis("unsqueeze", x, axis));
  Shape shape = x.shape();
  shape.push_back(1);
  std::rotate(shape.begin() + at, shape.end() - 1, shape.end());
  return record(Reshape{shape}, x);
}

Tensor expand(In x, const SizeList& sizes) {
  Shape shape(sizes.begin(), sizes.end());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t axis = i + x.dim() - sizes.size();  // of x; too large if the axis is new
    if (sizes[i] == -1 && axis < x.dim())
      shape[i] = x.shape()[axis];
    else if (sizes[i] < 0)
      throw_error("expand: size ", sizes[i], " for ", describe(x, "x"), " must be 0 or more",
                  sizes[i] == -1 ? "; -1 keeps the size of an axis that x has" : "");
  }
  if (!broadcasts_to(x.shape(), shape))
    throw_error("expand: ", describe(x, "x"), " does not broadcast to ", str(shape),
                ": only axes of size 1 can be expanded");
  return record(Expand{shape}, x);
}

// ---- transpose, permute

Tensor transpose(In x, int axis_a, int axis_b) {
  const std::size_t a = checked_axis("transpose", x, axis_a);
  const std::size_t b = checked_axis("transpose", x, axis_b);
  std::vector<std::size_t> order(x.dim());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (x.dim() > 0) std::swap(order[a], order[b]);
  return record(Permute{order}, x);
}

Tensor permute(In x, const AxisList& order) {
  if (order.size() != x.dim())
    throw_error("permute: ", describe(x, "x"), " has ", x.dim(), " axes, the order names ",
                order.size());
  checked_axes("permute", x, order);  // checks that no axis occurs twice
  std::vector<std::size_t> checked;
  for (const int axis : order) checked.push_back(checked_axis("permute", x, axis));
  return record(Permute{checked}, x);
}

// ---- slice, select

static std::int64_t clamped_index(std::int64_t index, std::int64_t size) {
  return std::clamp<std::int64_t>(index < 0 ? index + size : index, 0, size);
}

// Strided slice along one axis: `count` indices begin, begin + step, ...
static StridedView view_along(const Shape& shape, std::size_t axis, std::int64_t begin,
                              std::int64_t count, std::int64_t step = 1) {
  StridedView view{shape, row_major_strides(shape), 0};
  view.offset = begin * view.strides[axis];
  view.strides[axis] *= step;
  view.shape[axis] = static_cast<std::size_t>(count);
  return view;
}

Tensor slice(In x, int axis, std::int64_t begin, std::int64_t end, std::int64_t step) {
  if (step < 1) throw_error("slice: step ", step, " of ", describe(x, "x"), " must be at least 1");
  if (x.dim() == 0) throw_error("slice: ", describe(x, "x"), " has no axes to slice");
  const std::size_t at = checked_axis("slice", x, axis);
  const auto size = static_cast<std::int64_t>(x.shape()[at]);
  const std::int64_t first = clamped_index(begin, size), last = clamped_index(end, size);
  const std::int64_t count = last <= first ? 0 : (last - first - 1) / step + 1;
  step = std::min(step, size + 1);  // avoids overflow; any step above `size` selects one element
  return record(Slice{view_along(x.shape(), at, first, count, step)}, x);
}

Tensor select(In x, int axis, std::int64_t index) {
  if (x.dim() == 0) throw_error("select: ", describe(x, "x"), " has no axes to select from");
  const std::size_t at = checked_axis("select", x, axis);
  const auto size = static_cast<std::int64_t>(x.shape()[at]);
  if (index < -size || index >= size)
    throw_error("select: index ", index, " is out of range for axis ", axis, " of ",
                describe(x, "x"));
  StridedView view = view_along(x.shape(), at, index < 0 ? index + size : index, 1);
  view.shape = reduced_shape(view.shape, {at}, false);
  view.strides.erase(view.strides.begin() + static_cast<std::ptrdiff_t>(at));
  return record(Slice{view}, x);
}

const Tensor Tensor::operator[](IndexIn i) const { return select(In(*this, i.call), 0, i.value); }

// ---- concat, stack, split

static Tensor concat_along(const std::vector<Tensor>& parts, std::size_t axis) {
  Shape shape = parts[0].shape();
  shape[axis] = 0;
  for (const Tensor& part : parts) {
    shape[axis] += part.shape()[axis];
    numel(shape);  // throws before the sum can overflow
  }
  std::vector<StridedView> views;
  std::int64_t begin = 0;
  for (const Tensor& part : parts) {
    const auto size = static_cast<std::int64_t>(part.shape()[axis]);
    views.push_back(view_along(shape, axis, begin, size));
    begin += size;
  }
  return record_list(Concat{shape, views}, parts);
}

Tensor concat(InList parts, int axis) {
  if (parts.empty()) throw_error("concat: needs at least one tensor");
  const Shape first = parts[0].shape();
  if (first.size() == 0) throw_error("concat: a tensor of rank 0 has no axis; use stack");
  const std::size_t at = checked_axis("concat", parts[0], axis, "part 0");
  for (std::size_t i = 1; i < parts.size(); ++i) {
    Shape other = parts[i].shape();
    if (other.size() == first.size()) other[at] = first[at];
    if (other != first)
      throw_error("concat: sizes other than axis ", axis,
                  "'s must be equal: ", describe(parts[0], "part 0"), ", ",
                  describe(parts[i], "part " + std::to_string(i)));
  }
  return concat_along(parts, at);
}

Tensor stack(InList parts, int axis) {
  if (parts.empty()) throw_error("stack: needs at least one tensor");
  const std::size_t at = new_axis("stack", parts[0], axis);
  std::vector<Tensor> rows;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].shape() != parts[0].shape())
      throw_error("stack: shapes must be equal: ", describe(parts[0], "part 0"), ", ",
                  describe(parts[i], "part " + std::to_string(i)));
    rows.push_back(unsqueeze(parts[i], static_cast<int>(at)));
  }
  return concat_along(rows, at);
}

std::vector<Tensor> split(In x, const SizeList& sizes, int axis) {
  if (x.dim() == 0) throw_error("split: ", describe(x, "x"), " has no axes to split");
  const std::size_t at = checked_axis("split", x, axis);
  const auto available = static_cast<std::int64_t>(x.shape()[at]);
  std::int64_t total = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0)
      throw_error("split: size ", size, " of a piece of ", describe(x, "x"), " is negative");
    if (size > std::numeric_limits<std::int64_t>::max() - total)
      throw_error("split: the pieces add up to 2^63 or more, axis ", axis, " of ", describe(x, "x"),
                  " has size ", available);
    total += size;
  }
  if (total != available)
    throw_error("split: the pieces add up to ", total, ", axis ", axis, " of ", describe(x, "x"),
                " has size ", available);
  std::vector<Tensor> parts;
  std::int64_t begin = 0;
  for (const std::int64_t size : sizes) {
    parts.push_back(record(Slice{view_along(x.shape(), at, begin, size)}, x));
    begin += size;
  }
  return parts;
}

}  // namespace HEED_NAMESPACE
