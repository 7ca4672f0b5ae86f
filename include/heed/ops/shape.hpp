// shape.hpp: reshape, expand, transpose, slice, concat, split and other changes of shape.
#pragma once

#include <limits>

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// The elements of x, in the same row-major order, with another shape. One size may be -1: it then
// follows from the number of elements.
Tensor reshape(In x, const SizeList& shape);
// squeeze removes an axis of size 1, unsqueeze inserts one.
Tensor squeeze(In x, int axis);
Tensor unsqueeze(In x, int axis);
// x broadcast to `shape`: repeated along axes of size 1 and new leading axes. Size -1 keeps the
// size of an axis of x.
Tensor expand(In x, const SizeList& shape);

// Swaps two axes.
Tensor transpose(In x, int axis_a, int axis_b);
// Axis k of the result is axis order[k] of x; `order` names each axis once.
Tensor permute(In x, const AxisList& order);

// The default `end` of slice(): up to the last element.
inline constexpr std::int64_t to_the_end = std::numeric_limits<std::int64_t>::max();

// x[begin:end:step] along one axis, as in Python: negative indices count from the end, and indices
// out of range are clamped. step is at least 1.
Tensor slice(In x, int axis, std::int64_t begin, std::int64_t end = to_the_end,
             std::int64_t step = 1);
// x[index] along one axis. The result does not have this axis.
Tensor select(In x, int axis, std::int64_t index);

// Joins tensors along an axis (torch.cat). All sizes except those of `axis` must be equal.
Tensor concat(InList parts, int axis);
// Joins tensors along a new axis. All shapes must be equal.
Tensor stack(InList parts, int axis);
// Splits x along an axis into consecutive parts. `sizes` must add up to the size of the axis.
std::vector<Tensor> split(In x, const SizeList& sizes, int axis);

}  // namespace HEED_NAMESPACE
