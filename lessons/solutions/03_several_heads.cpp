// 03 several_heads: attention several times side by side, written as two einsum equations.
//
// A head is one attention of its own. Here B pairs of texts are read by H heads at once: the N
// tokens of one text hear the M tokens of the other. Each head has its own queries, keys and
// values, and neither pairs nor heads mix. (Lesson 05 explains these three names. Here they are
// arrays, no more.) They come token first, head second:
//
//   queries (B, N, H, D)   keys (B, M, H, D)   values (B, M, H, E)
//
// 1. scores (B, H, N, M): the dot product of each query with each key, over their D numbers.
// 2. mixtures (B, N, H, E): for each of the N tokens the sum of M values, each times its weight.
//    The weights (B, H, N, M) are shaped like the scores.
//
// What stands below is lesson 03's attention, of one head and one text. Change the equations only.
// Hint: Six letters, one each for B, N, M, H, D and E. They stand as in the shapes above.
// Hint: A letter in both arrays and after the arrow: no sum, each pair or head keeps to itself.
// Hint: A letter that is missing after the arrow is summed over.

#include "exercise.hpp"
#include "heed/ops/einsum.hpp"

using namespace heed;

// Your part begins here.
const std::string scores_equation = "bnhd,bmhd->bhnm";
const std::string mixtures_equation = "bhnm,bmhe->bnhe";
// Your part ends here.

Tensor head_scores(const Tensor& queries, const Tensor& keys) {
  return einsum(scores_equation, {queries, keys});
}

Tensor head_mixtures(const Tensor& weights, const Tensor& values) {
  return einsum(mixtures_equation, {weights, values});
}
