// indexing.hpp: one_hot, index_select, unbind, scatter, triu, flip, repeat and pad.
#pragma once

#include "heed/array/exact.hpp"
#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// One-hot vectors: indices (...) give (..., num_classes), 1 at the index and 0 elsewhere. If
// num_classes is -1, it is the largest index plus 1. An Array, as a target of mse_loss() or a
// factor; Tensor(one_hot(...)) is a tensor. Throws Error for an index outside 0 to num_classes - 1,
// and for num_classes -1 without indices.
Array one_hot(const IndicesIn& indices, std::int64_t num_classes = -1);

// The parts of x at `indices` (k) along an axis, which gets the size k. The gradient of a part is
// the sum over all its indices. Throws Error for an index outside 0 to n - 1, as in PyTorch. (x[i]
// of tensor.hpp selects one part, and counts negative indices from the end.)
Tensor index_select(In x, int axis, const Exact<Indices>& indices);

// The parts of x along an axis, which they do not have: x[0], x[1], ... for axis 0. Their gradients
// are written into one array. Throws Error for a scalar.
std::vector<Tensor> unbind(In x, int axis = 0);

// A copy of x in which y[b][indices[b][i]] = source[b][i], for axis 1. indices and source have one
// shape: that of x, except along the axis. scatter_add() adds to x instead. If an index occurs
// twice, scatter() keeps its last element, and the gradient of the others is 0. Throws Error for an
// index outside 0 to n - 1.
Tensor scatter(In x, int axis, const Exact<Indices>& indices, In source);
Tensor scatter(In x, int axis, const Exact<Indices>& indices, double value);
Tensor scatter_add(In x, int axis, const Exact<Indices>& indices, In source);

// Like torch.triu: x (..., T, S) on and above the diagonal, 0 below it. (tril is in mask.hpp.)
Tensor triu(In x, int diagonal = 0);

// x with the elements along each of the axes in reverse order. {} means no axis, as in PyTorch.
Tensor flip(In x, const AxisList& axes);

// x.repeat(sizes) of PyTorch: x (2, 3) repeated {4, 1, 2} times is (4, 2, 6). There are at least as
// many sizes as axes; more sizes are new leading axes. Throws Error for a negative size.
Tensor repeat(In x, const SizeList& sizes);

// As torch.nn.functional.pad with mode "constant": `padding` holds the numbers of elements to add
// {before, after} the last axis, then the axis before it, and so on; pad(x, {0, 1}) appends a
// column. A negative number removes elements. Throws Error if padding has an odd number of entries
// or more than two per axis, or if a size would be negative.
Tensor pad(In x, const SizeList& padding, double value = 0);

}  // namespace HEED_NAMESPACE
