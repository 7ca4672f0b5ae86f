// 03 several_heads: attention for several pairs of sequences and several heads, by einsum.
//
// A model computes attention several times side by side. Each of these computations is called a
// head. Here B pairs of sequences are computed at once, each with H heads. The N queries come from
// one sequence of a pair, the M keys and values from the other. Pairs and heads are independent of
// each other. (Lesson 05 explains queries, keys and values. Here they are just arrays.) The axes
// are: pair, position, head, component.
//
//   queries (B, N, H, D)   keys (B, M, H, D)   values (B, M, H, E)
//
// 1. scores (B, H, N, M): the dot product of each query with each key, over their D components.
// 2. outputs (B, N, H, E): for each query position the weighted sum of the M values. The weights
//    (B, H, N, M) have the shape of the scores.
//
// Below is the attention of lesson 03, for one head and one sequence. Change the equations only.

#include "exercise.hpp"
#include "heed/ops/einsum.hpp"

using namespace heed;

// Your part begins here.
const std::string scores_equation = "id,jd->ij";
const std::string outputs_equation = "ij,jd->id";
// Your part ends here.

Tensor head_scores(const Tensor& queries, const Tensor& keys) {
  return einsum(scores_equation, {queries, keys});
}

Tensor head_outputs(const Tensor& weights, const Tensor& values) {
  return einsum(outputs_equation, {weights, values});
}
