// reduce.hpp: reductions over axes: sum, mean, max, variance, argmax.
#pragma once

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// Without `axes`, a reduction is over all axes. With keepdim the reduced axes get size 1. Sums are
// accumulated in double. Throws Error for an axis that is out of range or given twice.
Tensor sum(const Tensor& x, const AxisList& axes = {}, bool keepdim = false,
           SourceLocation location = SourceLocation::current());
// The mean of no elements is NaN, as in PyTorch.
Tensor mean(const Tensor& x, const AxisList& axes = {}, bool keepdim = false,
            SourceLocation location = SourceLocation::current());
// As torch.amax: equal maxima get equal parts of the gradient. Throws Error for an empty x.
Tensor max(const Tensor& x, const AxisList& axes = {}, bool keepdim = false,
           SourceLocation location = SourceLocation::current());
// The sum of squared deviations, divided by n - 1 if unbiased (PyTorch's default), else by n.
Tensor variance(const Tensor& x, const AxisList& axes = {}, bool unbiased = true,
                bool keepdim = false, SourceLocation location = SourceLocation::current());

// The index of the (first) largest element along an axis, which is removed. Not differentiable.
Indices argmax(const Tensor& x, int axis);

}  // namespace HEED_NAMESPACE
