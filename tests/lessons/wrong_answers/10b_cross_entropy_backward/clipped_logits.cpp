// Logits are clipped to +-80 in place of subtracting a maximum.
#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;

Array cross_entropy_backward(const Array& logits, const Indices& targets) {
  const std::size_t N = logits.shape(0), V = logits.shape(1);
  Array gradient = zeros({N, V});  // (softmax - one-hot) / N
  for (std::size_t i = 0; i < N; ++i) {
    Real sum = 0;
    const auto clipped = [&](std::size_t j) { return std::clamp<Real>(logits(i, j), -80, 80); };
    for (std::size_t j = 0; j < V; ++j) sum += std::exp(clipped(j));
    for (std::size_t j = 0; j < V; ++j) {
      const Real p = std::exp(clipped(j)) / sum;
      gradient(i, j) = (p - (std::int64_t(j) == targets(i) ? 1 : 0)) / Real(N);
    }
  }
  return gradient;
}
