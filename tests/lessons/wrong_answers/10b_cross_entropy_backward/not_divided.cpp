// The gradient is that of the sum over the rows, not of the mean.
#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;

Array cross_entropy_backward(const Array& logits, const Indices& targets) {
  const std::size_t N = logits.shape(0), V = logits.shape(1);
  Array gradient = zeros({N, V});  // (softmax - one-hot) / N
  for (std::size_t i = 0; i < N; ++i) {
    Real maximum = logits(i, 0), sum = 0;
    for (std::size_t j = 0; j < V; ++j) maximum = std::max(maximum, logits(i, j));
    for (std::size_t j = 0; j < V; ++j) sum += std::exp(logits(i, j) - maximum);
    for (std::size_t j = 0; j < V; ++j) {
      const Real p = std::exp(logits(i, j) - maximum) / sum;
      gradient(i, j) = (p - (std::int64_t(j) == targets(i) ? 1 : 0));
    }
  }
  return gradient;
}
