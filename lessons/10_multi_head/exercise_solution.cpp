// 10 several_heads: attention for several pairs of texts and several heads, by einsum.
//
// The arrays below hold B * H separate computations of attention, which do not depend on each
// other. Each has N queries and M keys and values. (Lesson 03 explains queries, keys and values.
// Here they are just vectors.) B counts pairs of texts: the queries come from the first text of a
// pair, the keys and values from the second. H counts heads: a model computes attention several
// times for each pair, with other queries, keys and values, and each time is called a head (lesson
// 10). The axes are: pair, position, head, component.
//
//   queries (B, N, H, D)   keys (B, M, H, D)   values (B, M, H, E)
//
// 1. scores (B, H, N, M): the dot product of each query with each key, over their D components.
// 2. outputs (B, N, H, E): for each query position the weighted sum of the M values. The weights
//    (B, H, N, M) have the shape of the scores.
//
// Below are the equations of lesson 02, for one head and one text. Change the equations only.

#include "exercise.hpp"
#include "heed/ops/einsum.hpp"

using namespace heed;

// Your part begins here.
const std::string scores_equation = "bnhd,bmhd->bhnm";
const std::string outputs_equation = "bhnm,bmhe->bnhe";
// Your part ends here.

Tensor head_scores(const Tensor& queries, const Tensor& keys) {
  return einsum(scores_equation, {queries, keys});
}

Tensor head_outputs(const Tensor& weights, const Tensor& values) {
  return einsum(outputs_equation, {weights, values});
}
