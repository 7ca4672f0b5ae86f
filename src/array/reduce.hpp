// reduce.hpp: reductions over axes (sum, max), broadcasting, reshape and permute of arrays.
#pragma once

#include "heed/array/shape.hpp"

namespace HEED_NAMESPACE {

// Reductions over `axes` (from checked_axes). The reduced axes get size 1 (keepdim) or are removed.
// A NaN in x gives NaN. sum_over accumulates in double. max_over throws Error for a maximum of no
// elements.
Array sum_over(const Array& x, const Axes& axes, bool keepdim);
Array max_over(const Array& x, const Axes& axes, bool keepdim);

// The backward pass of broadcasting from `shape` to dy's shape: sums dy over repeated elements.
Array sum_to(const Array& dy, const Shape& shape);
Array sum_to(Array&& dy, const Shape& shape);  // makes no copy if dy already has this shape

// Returns x broadcast to `shape`: repeated along axes of size 1 and along new leading axes.
Array expanded(const Array& x, const Shape& shape);

// Returns the elements of x, in the same row-major order, with another shape.
Array reshaped(Array x, const Shape& shape);

// Returns x with permuted axes, like torch.permute: axis k of the result is axis order[k] of x.
Array permuted(const Array& x, const std::vector<std::size_t>& order);

// Adds `part` to `to`, element by element. Both arrays must have the same shape.
void add_to(Array& to, const Array& part);

double sum_of_squares(const Array& x);  // accumulated in double
bool all_finite(const Array& x);        // whether x has neither infinity nor NaN

}  // namespace HEED_NAMESPACE
