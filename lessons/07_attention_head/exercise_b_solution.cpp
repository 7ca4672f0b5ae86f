// 07b cross_entropy_backward: the gradient of the mean cross-entropy with respect to the logits.
//
// logits (N, V) contains a row of V logits for each of N predictions, targets (N) the index of the
// correct token of each row. The loss is the mean cross-entropy, in nats:
//
//   p(i, :) = softmax(logits(i, :))        loss = -1 / N * sum over i of ln p(i, targets(i))
//
// Return the gradient of this loss with respect to the logits, (N, V). Derive it: how does ln p
// change if one logit of the row grows? (Lesson 06 derives how softmax changes.) Logits may be in
// the thousands, positive and negative, even within one row.
//
// As handed out, the gradient is that of another loss: -(mean of the targets' logits).

#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
Array cross_entropy_backward(const Array& logits, const Indices& targets) {
  const std::size_t N = logits.shape(0), V = logits.shape(1);
  Array gradient = zeros({N, V});  // (softmax - one-hot) / N
  for (std::size_t i = 0; i < N; ++i) {
    Real maximum = logits(i, 0), sum = 0;
    for (std::size_t j = 0; j < V; ++j) maximum = std::max(maximum, logits(i, j));
    for (std::size_t j = 0; j < V; ++j) sum += std::exp(logits(i, j) - maximum);
    for (std::size_t j = 0; j < V; ++j) {
      const Real p = std::exp(logits(i, j) - maximum) / sum;
      gradient(i, j) = (p - (std::int64_t(j) == targets(i) ? 1 : 0)) / Real(N);
    }
  }
  return gradient;
}
// Your part ends here.
