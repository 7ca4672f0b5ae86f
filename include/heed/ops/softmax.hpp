// softmax.hpp: softmax and log_softmax over one axis, logsumexp over several.
#pragma once

#include "heed/autograd/tensor.hpp"
#include "heed/base/bool.hpp"

namespace HEED_NAMESPACE {

// exp(x) / sum exp(x) over `axis` (-1 is the last), computed without overflow. A row along the axis
// that is -infinity everywhere (fully masked) becomes zeros with zero gradients, where PyTorch
// gives NaN. A NaN makes its whole row NaN. Throws Error for an axis out of range.
Tensor softmax(In x, int axis);

// ln softmax(x), finite even where softmax(x) rounds to 0. A fully masked row stays -infinity.
Tensor log_softmax(In x, int axis);

// ln sum_j exp(x_j) over `axes`; {} means all. -infinity for a fully masked or empty row.
Tensor logsumexp(In x, const AxisList& axes, Bool keepdim = false);

}  // namespace HEED_NAMESPACE
