// reduce.hpp: sums, maxima and their undoing; floats are added up in double.
#pragma once

#include "heed/array/shape.hpp"

namespace heed {

// Over the given (checked) axes, which become 1 (keepdim) or go. A sum of nothing is 0; NaN in
// gives NaN out; a maximum of nothing throws Error.
Array sum_over(const Array& x, const Axes& axes, bool keepdim);
Array max_over(const Array& x, const Axes& axes, bool keepdim);

// The sum of dy over everything that broadcasting repeated: from dy's shape back to `shape`.
Array sum_to(const Array& dy, const Shape& shape);
Array sum_to(Array&& dy, const Shape& shape);  // moved when it has that shape already

// x repeated along its axes of size 1 (and along new ones on the left) until it has `shape`.
Array expanded(const Array& x, const Shape& shape);

// The same elements in row-major order under another shape.
Array reshaped(Array x, const Shape& shape);

// y[i_0, ..., i_n] = x[...] with y's axis k being x's axis order[k].
Array permuted(const Array& x, const std::vector<std::size_t>& order);

// to += part, element by element; the shapes are equal.
void add_to(Array& to, const Array& part);

double sum_of_squares(const Array& x);
bool all_finite(const Array& x);

}  // namespace heed
