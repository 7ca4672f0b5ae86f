// array.hpp: Array, the block of numbers everything else is made of.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heed/array/pool.hpp"
#include "heed/array/xtensor.hpp"

namespace heed {

// The number type: float in the library `heed`, which runs; double in `heed_double`, in which
// gradients are checked.
#ifdef HEED_DOUBLE
using Real = double;
#else
using Real = float;
#endif

// An xtensor array of any rank, row-major: xt::exp(x), x + y, xt::view(x, 0) and the rest of
// xtensor work on it. Name every intermediate result with this type, never with `auto`, which
// would keep an unevaluated expression.
using Array = xt::xarray<Real, xt::layout_type::row_major, PoolAllocator<Real>>;
using Shape = Array::shape_type;

using Indices = xt::xarray<std::int64_t, xt::layout_type::row_major>;  // tokens, targets
using Mask =
    xt::xarray<bool, xt::layout_type::row_major>;  // the meaning of true is the operation's

Array uninitialized(const Shape& shape);  // for results whose every element is about to be written
Array filled(const Shape& shape, Real value);
Array zeros(const Shape& shape);
Array ones(const Shape& shape);
Array scalar(Real value);  // rank 0

// An argument that was not given, such as the bias of a Linear without one: size 0, rank 1.
const Array& undefined_array();
bool is_defined(const Array& x);

Real item(const Array& x);  // the only element; throws Error when there is not exactly one

// (T, T): true where column s is later than row t, the places a causal model must not see.
Mask future_mask(std::size_t T);

}  // namespace heed
