// reduce.hpp: reductions over axes (sum, max), broadcasting, reshape and permute of arrays.
#pragma once

#include "heed/array/shape.hpp"

namespace HEED_NAMESPACE {

// Reductions over `axes` (from checked_axes). The reduced axes get size 1 (keepdim) or are removed.
// A NaN in x gives NaN. sum_over accumulates in double. max_over throws Error if x has no elements.
Array sum_over(const Array& x, const Axes& axes, bool keepdim);
Array max_over(const Array& x, const Axes& axes, bool keepdim);

// The backward pass of broadcasting from `shape` to dy's shape: sums dy over repeated elements.
Array sum_to(const Array& dy, const Shape& shape);
Array sum_to(Array&& dy, const Shape& shape);  // moves dy if it already has `shape`

// x broadcast to `shape`: repeated along axes of size 1 and along new leading axes.
Array expanded(const Array& x, const Shape& shape);

// The elements of x, in the same row-major order, with another shape.
Array reshaped(Array x, const Shape& shape);

// x with its axes in another order, as torch.permute: axis k of the result is axis order[k] of x.
Array permuted(const Array& x, const std::vector<std::size_t>& order);

// to += part, element by element. The shapes must be equal.
void add_to(Array& to, const Array& part);

double sum_of_squares(const Array& x);  // accumulated in double
bool all_finite(const Array& x);        // whether x has neither infinity nor NaN

}  // namespace HEED_NAMESPACE
