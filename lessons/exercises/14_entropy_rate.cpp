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

#include <cmath>

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
Array stationary_distribution(const Array& P) {
  const std::size_t N = P.shape(0);
  return filled({N}, Real(1) / Real(N));
}

double entropy_rate(const Array& P) {
  const std::size_t N = P.shape(0);
  double nats = 0;
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t j = 0; j < N; ++j) nats -= P(i, j) * std::log(P(i, j)) / double(N);
  return nats;
}
// Your part ends here.
