// 07 leaky_masks: four causal attentions, each with a leak of its own.
//
// Each function takes scores (N, N) and gives weights (N, N): row t is that of token t, which may
// listen to the tokens 0 to t. Its weights shall sum to one, and no bit of them may depend on the
// scores of later tokens, be they huge or infinite. Each function below runs, and looks right at
// first sight.
//
// The first three shall give the same, softmax over the past. The fourth first divides the scores
// by their size, the square root of their mean square. Keep that, but each token shall divide by
// the size of those scores that it may see.
// Hint: Print the weights of some scores, then of scores 100,000 times as large.
// Hint: A softmax that has seen the future has divided by it; dividing once more comes too late.
// Hint: The squares that token t may see are in row t of tril(scores * scores), t + 1 of them.

#include <limits>

#include "exercise.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/mask.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/softmax.hpp"

using namespace heed;

const Real infinity = std::numeric_limits<Real>::infinity();

// Your part begins here.
Tensor mask_from_tril(const Tensor& scores) {
  Tensor seen = tril(Tensor(ones(scores.shape())));  // (N, N), ones for what may be seen
  return softmax(masked_fill(scores, xt::equal(seen.value(), 0), -infinity), -1);
}

Tensor large_number(const Tensor& scores) {
  const Mask future = causal_mask(scores.shape()[0]);  // (N, N), true where s > t
  return softmax(masked_fill(scores, future, -infinity), -1);
}

Tensor mask_after_softmax(const Tensor& scores) {
  return softmax(masked_fill(scores, causal_mask(scores.shape()[0]), -infinity), -1);
}

Tensor one_size_for_all(const Tensor& scores) {
  Tensor squares = sum(tril(scores * scores), {1}, true);              // (N, 1), of the past only
  Tensor counts = sum(tril(Tensor(ones(scores.shape()))), {1}, true);  // (N, 1): 1, 2, 3, ...
  Tensor size = sqrt(squares / counts);                                // (N, 1), one for each token
  const Mask future = causal_mask(scores.shape()[0]);
  return softmax(masked_fill(scores / size, future, -infinity), -1);
}
// Your part ends here.
