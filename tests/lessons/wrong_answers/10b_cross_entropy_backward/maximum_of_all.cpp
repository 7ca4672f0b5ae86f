// The maximum of the whole matrix is subtracted, so that all exp of a row can become 0.
#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;

Array cross_entropy_backward(const Array& logits, const Indices& targets) {
  const std::size_t N = logits.shape(0), V = logits.shape(1);
  Array gradient = zeros({N, V});  // (softmax - one-hot) / N
  for (std::size_t i = 0; i < N; ++i) {
    Real maximum = logits(0, 0), sum = 0;
    for (const Real z : logits) maximum = std::max(maximum, z);
    for (std::size_t j = 0; j < V; ++j) sum += std::exp(logits(i, j) - maximum);
    for (std::size_t j = 0; j < V; ++j) {
      const Real p = std::exp(logits(i, j) - maximum) / sum;
      gradient(i, j) = (p - (std::int64_t(j) == targets(i) ? 1 : 0)) / Real(N);
    }
  }
  return gradient;
}
