// shape.hpp: shapes as text, axes counted from either end, and what broadcasting makes of two.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/array/array.hpp"

namespace heed {

using Axes = std::vector<std::size_t>;  // checked: in range, sorted, each once
using AxisList = std::vector<int>;      // as the caller wrote them: -1 is the last axis

std::string str(const Shape& shape);    // "(4, 8, 64)", "(3)", "()"
std::size_t numel(const Shape& shape);  // the product of its sizes; 1 for rank 0
Shape shape_of(const Array& x);
Shape shape_of(const Indices& x);
Shape shape_of(const Mask& x);

// `axis` counted from the front. Throws Error "softmax: axis 2 is out of range for x (2, 3);
// use -2 to 1". A rank-0 shape has the axes 0 and -1, as in PyTorch.
std::size_t checked_axis(std::string_view op, const Shape& shape, int axis,
                         std::string_view name = "x");

// All of `axes`, each at most once, sorted; an empty list means every axis.
Axes checked_axes(std::string_view op, const Shape& shape, const AxisList& axes,
                  std::string_view name = "x");

// The shape with the axes' sizes set to 1 (keepdim) or left out.
Shape reduced_shape(const Shape& shape, const Axes& axes, bool keepdim);

// The shape that a and b broadcast to: aligned at the right, sizes equal or 1 (NumPy's rule).
// Throws Error "add: shapes do not broadcast: a (2, 3), b (4)" with the names given.
Shape broadcast(std::string_view op, const Shape& a, const Shape& b, std::string_view a_name = "a",
                std::string_view b_name = "b");
bool broadcasts_to(const Shape& from, const Shape& to);

}  // namespace heed
