// shape.hpp: the same numbers in another order, or some of them.
#pragma once

#include <limits>

#include "heed/autograd/tensor.hpp"

namespace heed {

// The same elements in row-major order; one size may be -1 and is computed.
Tensor reshape(const Tensor& x, const std::vector<int>& shape,
               SourceLocation location = SourceLocation::current());
Tensor squeeze(const Tensor& x, int axis,
               SourceLocation location = SourceLocation::current());  // drops an axis of size 1
Tensor unsqueeze(const Tensor& x, int axis,
                 SourceLocation location = SourceLocation::current());  // adds one of size 1
// Repeated along axes of size 1 and new axes on the left; the gradient is summed back.
Tensor expand(const Tensor& x, const Shape& shape,
              SourceLocation location = SourceLocation::current());

Tensor transpose(const Tensor& x, int axis_a, int axis_b,
                 SourceLocation location = SourceLocation::current());
// y's axis k is x's axis order[k]; every axis once.
Tensor permute(const Tensor& x, const AxisList& order,
               SourceLocation location = SourceLocation::current());

inline constexpr std::int64_t to_the_end = std::numeric_limits<std::int64_t>::max();

// x[begin:end:step] along one axis, as in Python: negative positions count from the end, those
// beyond it are cut; step is at least 1.
Tensor slice(const Tensor& x, int axis, std::int64_t begin, std::int64_t end = to_the_end,
             std::int64_t step = 1, SourceLocation location = SourceLocation::current());
// x[index] along one axis, which goes.
Tensor select(const Tensor& x, int axis, std::int64_t index,
              SourceLocation location = SourceLocation::current());

// Side by side along an axis; all other sizes are equal.
Tensor concat(const std::vector<Tensor>& parts, int axis,
              SourceLocation location = SourceLocation::current());
// Along a new axis; all shapes are equal.
Tensor stack(const std::vector<Tensor>& parts, int axis,
             SourceLocation location = SourceLocation::current());
// Consecutive pieces of the given sizes, which add up to the axis.
std::vector<Tensor> split(const Tensor& x, const std::vector<std::int64_t>& sizes, int axis,
                          SourceLocation location = SourceLocation::current());

}  // namespace heed
