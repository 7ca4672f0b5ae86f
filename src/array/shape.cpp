// shape.cpp: shapes as text, checks of axes, reduced and broadcast shapes.

#include "heed/array/shape.hpp"

#include <algorithm>
#include <numeric>

#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {

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
  const auto duplicate = std::adjacent_find(result.begin(), result.end());
  if (duplicate != result.end())
    throw_error(op, ": axis ", *duplicate, " is given twice for ", name, " ", str(shape));
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
  if (!broadcast_together(a, b))
    throw_error(op, ": shapes do not broadcast: ", a_name, " ", str(a), ", ", b_name, " ", str(b));
  const std::size_t rank = std::max(a.size(), b.size());
  Shape result(rank, 1);
  for (std::size_t i = 1; i <= rank; ++i) {  // axes from the right
    const std::size_t size_a = i <= a.size() ? a[a.size() - i] : 1;
    const std::size_t size_b = i <= b.size() ? b[b.size() - i] : 1;
    result[rank - i] = size_a == 1 ? size_b : size_a;
  }
  return result;
}

bool broadcast_together(const Shape& a, const Shape& b) {
  for (std::size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {  // axes from the right
    const std::size_t size_a = a[a.size() - i], size_b = b[b.size() - i];
    if (size_a != size_b && size_a != 1 && size_b != 1) return false;
  }
  return true;
}

bool broadcasts_to(const Shape& from, const Shape& to) {
  if (from.size() > to.size()) return false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::size_t size = from[from.size() - 1 - i];
    if (size != 1 && size != to[to.size() - 1 - i]) return false;
  }
  return true;
}

}  // namespace HEED_NAMESPACE
