// reduce.hpp: reductions over axes (sum, mean, max, variance, argmax), topk and gather.
#pragma once

#include "heed/array/exact.hpp"
#include "heed/autograd/tensor.hpp"
#include "heed/base/bool.hpp"

namespace HEED_NAMESPACE {

// Without `axes`, a reduction is over all axes. With keepdim the reduced axes get size 1. Sums are
// accumulated in double. Throws Error for an axis that is out of range or given twice.
Tensor sum(In x, const AxisList& axes = {}, Bool keepdim = false);
// The mean of no elements is NaN, as in PyTorch.
Tensor mean(In x, const AxisList& axes = {}, Bool keepdim = false);
// Like torch.amax: equal maxima get equal parts of the gradient. Throws Error for the maximum of no
// elements.
Tensor max(In x, const AxisList& axes = {}, Bool keepdim = false);
// The sum of (x - mean)^2, divided by n - 1 if unbiased (PyTorch's default), else by n.
Tensor variance(In x, const AxisList& axes = {}, Bool unbiased = true, Bool keepdim = false);

// The index of the (first) largest element along an axis, which is removed. Not differentiable.
Indices argmax(In x, int axis);

// The k largest elements of x (..., n, ...) along an axis, the largest first, and their indices.
// Equal elements are in the order of their indices. NaN counts as larger than any number. Throws
// Error if k is larger than n.
struct TopK {
  Tensor values;    // (..., k, ...)
  Indices indices;  // (..., k, ...)
};
TopK topk(In x, std::size_t k, int axis = -1);

// The elements of x at `indices` along an axis: y[b][i] = x[b][indices[b][i]] for axis 1. indices
// (..., k, ...) has the sizes of x (..., n, ...), except along the axis. Throws Error for an index
// outside 0 to n - 1. (torch.gather allows smaller sizes of `indices` along the other axes.)
Tensor gather(In x, int axis, const Exact<Indices>& indices);

}  // namespace HEED_NAMESPACE
