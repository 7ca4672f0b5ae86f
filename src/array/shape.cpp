// shape.cpp: what shapes fit each other, and how to say so when they do not.

#include "heed/array/shape.hpp"

#include <algorithm>
#include <numeric>

#include "heed/base/error.hpp"

namespace heed {

std::string str(const Shape& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + ")";
}

std::size_t numel(const Shape& shape) {
  std::size_t n = 1;
  for (const std::size_t size : shape) n *= size;
  return n;
}

Shape shape_of(const Array& x) { return Shape(x.shape().begin(), x.shape().end()); }
Shape shape_of(const Indices& x) { return Shape(x.shape().begin(), x.shape().end()); }
Shape shape_of(const Mask& x) { return Shape(x.shape().begin(), x.shape().end()); }

std::size_t checked_axis(std::string_view op, const Shape& shape, int axis, std::string_view name) {
  const int rank = std::max(1, static_cast<int>(shape.size()));
  if (axis < -rank || axis >= rank)
    throw_error(op, ": axis ", axis, " is out of range for ", name, " ", str(shape), "; use ",
                -rank, " to ", rank - 1);
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

Axes checked_axes(std::string_view op, const Shape& shape, const AxisList& axes,
                  std::string_view name) {
  Axes result;
  for (const int axis : axes) result.push_back(checked_axis(op, shape, axis, name));
  std::sort(result.begin(), result.end());
  const auto twice = std::adjacent_find(result.begin(), result.end());
  if (twice != result.end())
    throw_error(op, ": axis ", *twice, " is given twice for ", name, " ", str(shape));
  if (shape.size() == 0) return {};
  if (axes.empty()) {
    result.resize(shape.size());
    std::iota(result.begin(), result.end(), std::size_t{0});
  }
  return result;
}

Shape reduced_shape(const Shape& shape, const Axes& axes, bool keepdim) {
  Shape result;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!std::binary_search(axes.begin(), axes.end(), i))
      result.push_back(shape[i]);
    else if (keepdim)
      result.push_back(1);
  }
  return result;
}

Shape broadcast(std::string_view op, const Shape& a, const Shape& b, std::string_view a_name,
                std::string_view b_name) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape result(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {  // i counts axes from the right
    const std::size_t in_a = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::size_t in_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (in_a != in_b && in_a != 1 && in_b != 1)
      throw_error(op, ": shapes do not broadcast: ", a_name, " ", str(a), ", ", b_name, " ",
                  str(b));
    result[rank - 1 - i] = in_a == 1 ? in_b : in_a;
  }
  return result;
}

bool broadcasts_to(const Shape& from, const Shape& to) {
  if (from.size() > to.size()) return false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::size_t have = from[from.size() - 1 - i];
    if (have != 1 && have != to[to.size() - 1 - i]) return false;
  }
  return true;
}

}  // namespace heed
