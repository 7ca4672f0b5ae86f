// The outputs sum over the query positions instead of the key positions.
#include "exercise.hpp"
#include "heed/ops/einsum.hpp"

using namespace heed;

const std::string scores_equation = "bnhd,bmhd->bhnm";
const std::string outputs_equation = "bhmn,bmhe->bnhe";

Tensor head_scores(const Tensor& queries, const Tensor& keys) {
  return einsum(scores_equation, {queries, keys});
}

Tensor head_outputs(const Tensor& weights, const Tensor& values) {
  return einsum(outputs_equation, {weights, values});
}
