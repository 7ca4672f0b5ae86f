// 14 entropy_rate: compute the entropy rate of a Markov chain.
//
// A Markov chain writes one of N letters after the other: the letter j follows the letter i with
// probability P(i, j). P is (N, N), its rows sum to 1, and some probabilities may be 0.
//
// `stationary_distribution` returns the proportion of each letter in a long text, (N). It does not
// change from one letter to the next: p(j) = sum_i p(i) P(i, j). `entropy_rate` returns the mean
// entropy of the next letter, in nats: sum_i p(i) H(P(i, :)).
//
// As handed out, both functions give each letter the same probability 1 / N.
// Hint: Start with any distribution and apply p(j) = sum_i p(i) P(i, j) thousands of times.
// Hint: For a periodic chain p never converges, unless you take the mean of the old and the new p.
// Hint: A probability of 0 adds nothing to the entropy, but its logarithm is minus infinity.

#include <cmath>

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
Array stationary_distribution(const Array& P) {
  const std::size_t N = P.shape(0);
  std::vector<double> p(N, 1 / double(N));
  for (int step = 0; step < 50'000; ++step) {
    std::vector<double> next(N, 0);
    for (std::size_t i = 0; i < N; ++i)
      for (std::size_t j = 0; j < N; ++j) next[j] += p[i] * double(P(i, j));
    for (std::size_t j = 0; j < N; ++j) p[j] = (p[j] + next[j]) / 2;  // for periodic chains
  }
  Array result = zeros({N});
  for (std::size_t i = 0; i < N; ++i) result(i) = Real(p[i]);
  const Real sum = xt::sum(result)();  // 1, up to the rounding errors of P and of 50,000 steps
  return result / sum;
}

double entropy_rate(const Array& P) {
  const std::size_t N = P.shape(0);
  const Array p = stationary_distribution(P);
  double nats = 0;
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t j = 0; j < N; ++j)
      if (P(i, j) > 0) nats -= double(p(i)) * double(P(i, j)) * std::log(double(P(i, j)));
  return nats;
}
// Your part ends here.
