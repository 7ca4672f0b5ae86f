// softmax.hpp: scores become shares; each row is positive and sums to one.
#pragma once

#include "heed/autograd/tensor.hpp"

namespace heed {

// Along `axis` (-1 is the last). Each line's maximum is subtracted first, so that no score is too
// large. A line that is -infinity everywhere (fully masked) becomes zeros with zero gradients,
// where PyTorch gives NaN; a NaN makes its whole line NaN.
// Throws Error for an axis out of range.
Tensor softmax(const Tensor& x, int axis, SourceLocation location = SourceLocation::current());

// ln softmax(x), without rounding small shares to zero. A fully masked line stays -infinity.
Tensor log_softmax(const Tensor& x, int axis, SourceLocation location = SourceLocation::current());

// ln sum_j exp(x_j) along `axis`; -infinity for a fully masked or empty line.
Tensor logsumexp(const Tensor& x, int axis, bool keepdim = false,
                 SourceLocation location = SourceLocation::current());

}  // namespace heed
