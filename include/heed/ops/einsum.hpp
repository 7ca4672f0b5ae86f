// einsum.hpp: einsum, sums of products in Einstein notation, with one letter per axis.
#pragma once

#include <string_view>

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// As torch.einsum: einsum("bqd,bkd->bqk", {queries, keys}) multiplies elements whose indices agree
// on every letter, and sums over the letters that are not after the arrow. A letter that appears
// twice in one operand selects the diagonal ("ii->" is the trace). "..." stands for any further
// axes, which broadcast. Without an arrow, the result has the letters that appear once, sorted. The
// sizes of a letter must be equal or 1. Throws Error if the equation does not fit the operands.
Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands,
              SourceLocation location = SourceLocation::current());

}  // namespace HEED_NAMESPACE
