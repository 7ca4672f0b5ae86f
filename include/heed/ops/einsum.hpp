// einsum.hpp: any sum of products, written with one letter an axis.
#pragma once

#include <string_view>

#include "heed/autograd/tensor.hpp"

namespace heed {

// einsum("bqd,bkd->bqk", {queries, keys}): multiply elements that agree on every letter, and sum
// over the letters that do not appear after the arrow. A letter twice in one operand is its
// diagonal ("ii->" is the trace); "..." stands for any further axes, which broadcast; without an
// arrow the result has the letters that appear once, sorted. Sizes of one letter are equal or 1.
// Throws Error for an equation that does not fit the operands.
Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands,
              SourceLocation location = SourceLocation::current());

}  // namespace heed
