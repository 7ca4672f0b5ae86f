// einsum.hpp: einsum, sums of products in Einstein notation, with one letter per axis.
#pragma once

#include <string_view>

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// Like torch.einsum: einsum("bqd,bkd->bqk", {queries, keys}) multiplies elements whose indices
// agree on every letter, and sums over the letters that are not after the arrow. A letter that
// appears twice in one operand selects the diagonal ("ii->" is the trace). "..." stands for further
// axes, which broadcast. If the equation has no arrow, the result has the axes of "..." and
// then the letters that appear once, in alphabetical order. Axes with the same letter must have
// equal sizes or size 1. Throws Error for an invalid equation.
Tensor einsum(std::string_view equation, InList operands);

}  // namespace HEED_NAMESPACE
