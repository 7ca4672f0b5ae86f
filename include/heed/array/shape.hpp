// shape.hpp: shapes as text, checks of axis numbers (-1 is the last axis), and broadcasting.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "heed/array/array.hpp"

namespace HEED_NAMESPACE {

using Axes = std::vector<std::size_t>;  // valid axes: in range, sorted, without duplicates

// Axes as given by the caller: one axis, as in sum(x, 0), or a list, as in sum(x, {0, -1}). Axis -1
// is the last axis. For a reduction, the empty list {} means all axes, as in sum(x).
class AxisList : public std::vector<int> {
 public:
  AxisList() = default;
  // One axis, or a list of axes.
  AxisList(int axis) : std::vector<int>{axis} {}
  AxisList(std::initializer_list<int> axes) : std::vector<int>(axes) {}
  AxisList(const std::vector<int>& axes) : std::vector<int>(axes) {}
  AxisList(bool) = delete;  // rejects sum(x, true), because keepdim is the third argument
};

// Sizes as given by the caller, of any integer type: {B, T, -1}, or the shape of another array.
class SizeList : public std::vector<std::int64_t> {
 public:
  struct Size {
    template <class Integer, class = std::enable_if_t<std::is_integral_v<Integer>>>
    Size(Integer n) : value(static_cast<std::int64_t>(n)) {}
    std::int64_t value;
  };
  SizeList() = default;
  // A list of integers, such as {B, T, -1}.
  SizeList(std::initializer_list<Size> sizes) {
    for (const Size& size : sizes) push_back(size.value);
  }
  // The elements of a container, such as a Shape.
  template <class Container, class = decltype(std::declval<Container>().begin())>
  SizeList(const Container& sizes) {
    for (const auto size : sizes) push_back(static_cast<std::int64_t>(size));
  }
};

std::string str(const Shape& shape);  // "(4, 8, 64)", "(3)", "()"; a size of -1 is printed as -1
// The number of elements of an array of this shape; 1 for rank 0. Throws Error for a negative size,
// and for 2^59 elements or more, whose number of bytes could overflow. uninitialized(), and so
// every array that heed creates, checks this.
std::size_t numel(const Shape& shape);
template <class AnyArray>
Shape shape_of(const AnyArray& x) {  // x may be an array whose shape() is not a Shape
  return Shape(x.shape().begin(), x.shape().end());
}

// Returns `axis` as a non-negative number, or nullopt if it is out of range. As in PyTorch, a
// scalar has the axes 0 and -1.
inline std::optional<std::size_t> axis_in(const Shape& shape, int axis) {
  const int rank = shape.empty() ? 1 : static_cast<int>(shape.size());
  if (axis < -rank || axis >= rank) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}
// Like axis_in, but throws Error "softmax: axis 2 is out of range for x (2, 3); use -2 to 1".
std::size_t checked_axis(std::string_view op, const Shape& shape, int axis,
                         std::string_view name = "x");

// Returns `axes` as sorted, non-negative numbers; {} means all axes. Throws Error for an axis out
// of range or given twice.
Axes checked_axes(std::string_view op, const Shape& shape, const AxisList& axes,
                  std::string_view name = "x");

// The shape after a reduction over `axes`: the reduced axes get size 1 (keepdim) or are removed.
Shape reduced_shape(const Shape& shape, const Axes& axes, bool keepdim);

// The shape that a and b broadcast to by NumPy's rule: the shapes are aligned at the right, and two
// sizes must be equal, or one of them 1. If the shapes do not broadcast, broadcast_shape returns
// nullopt, and broadcast throws Error, such as "add: shapes do not broadcast: a (2, 3), b (4)" if
// `op` is "add".
std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b);
Shape broadcast(std::string_view op, const Shape& a, const Shape& b, std::string_view a_name = "a",
                std::string_view b_name = "b");
bool broadcasts_to(const Shape& from, const Shape& to);

}  // namespace HEED_NAMESPACE
