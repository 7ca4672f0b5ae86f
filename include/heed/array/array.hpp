// array.hpp: Array (an n-dimensional array, an xtensor xarray) and its constructors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heed/array/allocator.hpp"
#include "heed/array/xtensor.hpp"

namespace HEED_NAMESPACE {

// An xtensor array of any rank, row-major. All xtensor functions work on it: xt::exp(x), x + y,
// xt::view(x, 0). Declare every intermediate result with this type: `auto` would keep an
// unevaluated expression.
using Array = xt::xarray<Real, xt::layout_type::row_major, Allocator<Real>>;
using Shape = Array::shape_type;

using Indices = xt::xarray<std::int64_t, xt::layout_type::row_major>;  // token indices, targets

Array uninitialized(const Shape& shape);  // the caller must write every element
Array filled(const Shape& shape, Real value);
Array zeros(const Shape& shape);
Array ones(const Shape& shape);
Array scalar(Real value);  // rank 0

// The value of an optional argument that is not given, such as the bias of a Linear without one:
// shape (0).
const Array& undefined_array();
bool is_defined(const Array& x);

Real item(const Array& x);  // the only element; throws Error if x does not have exactly one

}  // namespace HEED_NAMESPACE
