// equation.hpp: the equation of an einsum, as labels of its operands' and its result's axes.
#pragma once

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// The labels of an operand's axes: letters, and -1, -2, ... from the right for the axes of "...".
using Labels = std::vector<int>;
using Sizes = std::map<int, std::size_t>;

struct Equation {
  std::vector<Labels> operands;
  Labels result;
  Sizes sizes;  // the size of every label's axis
};

// Parses an equation as "ij,jk->ik" for the operands, whose axes it names. Throws Error for a
// character that is no letter, a wrong number of operands or axes, or sizes that differ.
Equation parse_equation(std::string_view equation, const std::vector<Tensor>& operands);

// The index of the first `label` in `labels`, or labels.size() if there is none.
inline std::size_t index_of(const Labels& labels, int label) {
  return static_cast<std::size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin());
}

}  // namespace HEED_NAMESPACE
