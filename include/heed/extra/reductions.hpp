// reductions.hpp: minimum, product, cumulative sum, norm, variance and standard deviation over
// axes.
#pragma once

#include "heed/autograd/tensor.hpp"
#include "heed/base/bool.hpp"

namespace HEED_NAMESPACE {

// The axes of a reduction are those of sum() in reduce.hpp: {} means all axes; with keepdim the
// reduced axes get size 1. Throws Error for an axis that is out of range or given twice.

// The smallest and the largest element. Equal extrema get equal parts of the gradient, and a NaN is
// the result, as in PyTorch. Throws Error if there are no elements to compare. min is amin, as max
// of reduce.hpp is amax; for the index, see argmin() and argmax().
Tensor amin(In x, const AxisList& axes = {}, Bool keepdim = false);
Tensor amax(In x, const AxisList& axes = {}, Bool keepdim = false);
Tensor min(In x, const AxisList& axes = {}, Bool keepdim = false);
// The index of the (first) smallest element along an axis, which is removed. A NaN counts as the
// smallest. Not differentiable.
Indices argmin(In x, int axis);

// The product of all elements, or of those along one axis; 1 if there are none. It is computed in
// double. The derivative is the product of the other elements, also where elements are 0.
Tensor prod(In x);
Tensor prod(In x, int axis, Bool keepdim = false);

// y_i = x_0 + ... + x_i along an axis, summed in double.
Tensor cumsum(In x, int axis);

// The p-norm (sum |x_i|^p)^(1/p), computed in double; for p infinity the largest |x_i|, for
// -infinity the smallest, for 0 the number of elements that are not 0. Where the norm is 0, so is
// the gradient. Throws Error for a p that is NaN, and for an infinite p if there are no elements.
Tensor norm(In x, double p = 2, const AxisList& axes = {}, Bool keepdim = false);
// x / max(norm(x), eps) along an axis, as torch.nn.functional.normalize.
Tensor normalize(In x, double p = 2, int axis = 1, double eps = 1e-12);

// The sum of (x - mean)^2, divided by max(n - correction, 0) for n elements: correction 1 is the
// unbiased estimate, 0 the mean. As in PyTorch, var(x, {0}) is NaN for one element.
Tensor var(In x, const AxisList& axes = {}, double correction = 1, Bool keepdim = false);
// The square root of var(), which PyTorch calls torch.std: `std` is a namespace in C++. Where it is
// 0, so is its gradient.
Tensor stddev(In x, const AxisList& axes = {}, double correction = 1, Bool keepdim = false);

}  // namespace HEED_NAMESPACE
