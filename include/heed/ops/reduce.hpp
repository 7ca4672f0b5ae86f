// reduce.hpp: many numbers become one, along any axes.
#pragma once

#include "heed/autograd/tensor.hpp"

namespace heed {

// No axes given means all of them. With keepdim the axes stay with size 1. Floats are added up in
// double. Throws Error for an axis out of range or given twice.
Tensor sum(const Tensor& x, const AxisList& axes = {}, bool keepdim = false,
           SourceLocation location = SourceLocation::current());
// The mean of nothing is NaN, as in PyTorch.
Tensor mean(const Tensor& x, const AxisList& axes = {}, bool keepdim = false,
            SourceLocation location = SourceLocation::current());
// Equal maxima share the gradient evenly (as PyTorch's amax). Throws Error for nothing to compare.
Tensor max(const Tensor& x, const AxisList& axes = {}, bool keepdim = false,
           SourceLocation location = SourceLocation::current());
// Divided by n - 1 when unbiased (PyTorch's default), by n otherwise.
Tensor variance(const Tensor& x, const AxisList& axes = {}, bool unbiased = true,
                bool keepdim = false, SourceLocation location = SourceLocation::current());

// The position of the largest element along an axis, which goes; the first of equals. No gradient.
Indices argmax(const Tensor& x, int axis);

}  // namespace heed
