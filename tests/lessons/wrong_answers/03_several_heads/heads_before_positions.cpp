// The axes are read as pair, head, position, component, as PyTorch orders them.
#include "exercise.hpp"
#include "heed/ops/einsum.hpp"

using namespace heed;

const std::string scores_equation = "bhnd,bhmd->bhnm";
const std::string outputs_equation = "bhnm,bhme->bhne";

Tensor head_scores(const Tensor& queries, const Tensor& keys) {
  return einsum(scores_equation, {queries, keys});
}

Tensor head_outputs(const Tensor& weights, const Tensor& values) {
  return einsum(outputs_equation, {weights, values});
}
