// shape.cpp: shapes as text, checks of axes, reduced and broadcast shapes.

#include "heed/array/shape.hpp"

#include <algorithm>
#include <numeric>

#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {

std::string str(const Shape& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(static_cast<std::ptrdiff_t>(shape[i]));
  return text + ")";
}

// Skips sizes of 0 in the check of the product, so that it does not depend on the order of the
// sizes.
std::size_t numel(const Shape& shape) {
  constexpr std::size_t max_elements = (std::size_t{1} << 59) - 1;
  std::size_t n = 1;
  for (const std::size_t size : shape) {
    if (size == 0) continue;
    if (static_cast<std::ptrdiff_t>(size) < 0)
      throw_error("shape ", str(shape), " has a negative size; give sizes of at least 0");
    if (__builtin_mul_overflow(n, size, &n) || n > max_elements)
      throw_error("shape ", str(shape),
                  " is too large: it has 2^59 elements or more; give smaller sizes");
  }
  return std::find(shape.begin(), shape.end(), 0u) != shape.end() ? 0 : n;
}

std::size_t checked_axis(std::string_view op, const Shape& shape, int axis, std::string_view name) {
  if (const auto at = axis_in(shape, axis)) return *at;
  const int rank = std::max(1, static_cast<int>(shape.size()));
  throw_error(op, ": axis ", axis, " is out of range for ", name, " ", str(shape), "; use ", -rank,
              " to ", rank - 1);
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

std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b) {
  Shape result = a.size() < b.size() ? b : a;
  for (std::size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {  // i counts axes from the right
    const std::size_t size_a = a[a.size() - i], size_b = b[b.size() - i];
    if (size_a != size_b && size_a != 1 && size_b != 1) return std::nullopt;
    result[result.size() - i] = size_a == 1 ? size_b : size_a;
  }
  return result;
}

Shape broadcast(std::string_view op, const Shape& a, const Shape& b, std::string_view a_name,
                std::string_view b_name) {
  const std::optional<Shape> shape = broadcast_shape(a, b);
  if (!shape)
    throw_error(op, ": shapes do not broadcast: ", a_name, " ", str(a), ", ", b_name, " ", str(b));
  return *shape;
}

bool broadcasts_to(const Shape& from, const Shape& to) { return broadcast_shape(from, to) == to; }

}  // namespace HEED_NAMESPACE
