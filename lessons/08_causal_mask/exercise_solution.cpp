// 08 leaky_masks: four implementations of causal attention weights, each with a different leak.
//
// Each function takes scores (N, N) and returns attention weights (N, N): rows are query positions,
// columns key positions. Query t may attend to the keys 0 to t. Each row must sum to one, and no
// bit of row t may depend on scores of later keys, even if these scores are huge or infinite. (Mask
// an infinite score before any product with it: 0 times infinity is NaN.)
//
// All four functions run, and their results look right at first sight. Repair each one. The first
// three return the softmax over the keys 0 to t. normalized_scores first divides each row t by a
// number, so that the mean of the squares of its scores 0 to t is 1.

#include "exercise.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/mask.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/softmax.hpp"

using namespace heed;

// Your part begins here.
Tensor mask_from_tril(const Tensor& scores) {
  Tensor lower = tril(Tensor(ones(scores.shape())));  // (N, N), 1 where a query may attend
  return softmax(masked_fill(scores, xt::equal(lower.value(), 0), -INFINITY), -1);
}

Tensor filled_scores(const Tensor& scores) {
  const Mask later = future_mask(scores.shape()[0]);  // (N, N), true where s > t
  return softmax(masked_fill(scores, later, -INFINITY), -1);
}

Tensor softmax_by_hand(const Tensor& scores) {
  Tensor masked = masked_fill(scores, future_mask(scores.shape()[0]), -INFINITY);
  Tensor e = exp(masked - max(masked, {1}, true));  // (N, N), the maximum over the keys 0 to t
  return e / sum(e, {1}, true);
}

Tensor normalized_scores(const Tensor& scores) {
  Tensor squares = sum(tril(scores * scores), {1}, true);              // (N, 1)
  Tensor counts = sum(tril(Tensor(ones(scores.shape()))), {1}, true);  // (N, 1): 1, 2, 3, ...
  Tensor size = sqrt(squares / counts);  // (N, 1), a root mean square for each query
  const Mask later = future_mask(scores.shape()[0]);
  return softmax(masked_fill(scores / size, later, -INFINITY), -1);
}
// Your part ends here.
