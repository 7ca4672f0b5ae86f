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
  Tensor seen = tril(Tensor(ones(scores.shape())), 1);  // (N, N), ones for what may be seen
  return softmax(masked_fill(scores, xt::equal(seen.value(), 0), -infinity), -1);
}

Tensor large_number(const Tensor& scores) {
  const Mask future = causal_mask(scores.shape()[0]);  // (N, N), true where s > t
  return softmax(masked_fill(scores, future, -10000), -1);
}

Tensor mask_after_softmax(const Tensor& scores) { return tril(softmax(scores, -1)); }

Tensor one_size_for_all(const Tensor& scores) {
  Tensor size = sqrt(mean(scores * scores));  // one number
  const Mask future = causal_mask(scores.shape()[0]);
  return softmax(masked_fill(scores / size, future, -infinity), -1);
}
// Your part ends here.
