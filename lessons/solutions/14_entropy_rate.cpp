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
// Hint: Begin with any shares, and let the chain go on for thousands of letters: p(j) = the sum.
// Hint: A chain that goes round in a circle never settles, unless you keep half of the old shares.
// Hint: What never comes costs nothing: leave out P(i, j) = 0, whose logarithm is no number.

#include <cmath>

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
Array shares(const Array& P) {
  const std::size_t N = P.shape(0);
  std::vector<double> p(N, 1 / double(N));
  for (int step = 0; step < 50'000; ++step) {
    std::vector<double> next(N, 0);
    for (std::size_t i = 0; i < N; ++i)
      for (std::size_t j = 0; j < N; ++j) next[j] += p[i] * double(P(i, j));
    for (std::size_t j = 0; j < N; ++j) p[j] = (p[j] + next[j]) / 2;  // else some never settle
  }
  Array result = zeros({N});
  for (std::size_t i = 0; i < N; ++i) result(i) = Real(p[i]);
  const Real sum = xt::sum(result)();  // not quite one: P is rounded, and was used 50,000 times
  return result / sum;
}

double entropy(const Array& P) {
  const std::size_t N = P.shape(0);
  const Array p = shares(P);
  double nats = 0;
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t j = 0; j < N; ++j)
      if (P(i, j) > 0) nats -= double(p(i)) * double(P(i, j)) * std::log(double(P(i, j)));
  return nats;
}
// Your part ends here.
