// 14 entropy_rate: how much of a chain's next letter nobody can guess.
//
// A chain writes one of N letters after the other: after letter i, letter j comes with probability
// P(i, j). P is (N, N), its rows sum to one, and some of it may be zero.
//
// First the share of all letters that each has in a long text, (N): shares that stay as they are
// when the chain goes on by a letter, p(j) = sum over i of p(i) P(i, j). Then the entropy in nats a
// letter: that of the choice after each letter, times the letter's share. No model of the chain's
// texts gets below it without a leak.
//
// As it stands, every letter is as frequent as any other, and the entropy is a plain mean.

#include <cmath>

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
Array shares(const Array& P) {
  const std::size_t N = P.shape(0);
  return filled({N}, Real(1) / Real(N));
}

double entropy(const Array& P) {
  const std::size_t N = P.shape(0);
  double nats = 0;
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t j = 0; j < N; ++j) nats -= P(i, j) * std::log(P(i, j)) / double(N);
  return nats;
}
// Your part ends here.
