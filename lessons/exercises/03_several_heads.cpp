// 03 several_heads: attention several times side by side, written as two einsum equations.
//
// A head is one attention of its own. Here B pairs of texts are read by H heads at once: the T
// tokens of one text hear the S tokens of the other. Each head has its own queries, keys and
// values, and neither pairs nor heads mix. The arrays come token first, head second:
//
//   queries (B, T, H, D)   keys (B, S, H, D)   values (B, S, H, E)
//
// 1. scores (B, H, T, S): the dot product of each query with each key, over their D numbers.
// 2. mixtures (B, T, H, E): for each of the T tokens the sum of S values, each times its weight.
//    The weights (B, H, T, S) are shaped like the scores.
//
// What stands below is lesson 03's attention, of one head and one text. Change the equations only.

#include "exercise.hpp"
#include "heed/ops/einsum.hpp"

using namespace heed;

// Your part begins here.
const std::string scores_equation = "id,jd->ij";
const std::string mixtures_equation = "ij,jd->id";
// Your part ends here.

Tensor head_scores(const Tensor& queries, const Tensor& keys) {
  return einsum(scores_equation, {queries, keys});
}

Tensor head_mixtures(const Tensor& weights, const Tensor& values) {
  return einsum(mixtures_equation, {weights, values});
}
