// mask.hpp: hiding elements, by place or by chance.
#pragma once

#include "heed/array/random.hpp"
#include "heed/autograd/tensor.hpp"

namespace heed {

// `value` where the mask is true, x elsewhere. The mask broadcasts to x's shape. No gradient comes
// through hidden places. For attention the value is minus infinity, never "a large number".
Tensor masked_fill(const Tensor& x, const Mask& mask, double value,
                   SourceLocation location = SourceLocation::current());

// x (..., T, S) on and below the diagonal, 0 above it; `diagonal` moves the edge to the right.
Tensor tril(const Tensor& x, int diagonal = 0, SourceLocation location = SourceLocation::current());

// Each element becomes 0 with probability p, else x / (1 - p), so that the mean stays. p in [0, 1].
Tensor dropout(const Tensor& x, double p, Generator& generator,
               SourceLocation location = SourceLocation::current());

}  // namespace heed
