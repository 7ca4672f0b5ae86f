// 14 entropy_rate: chains with a stationary distribution known by hand, and random chains.

#include <cmath>

#include "exercise.hpp"
#include "heed/array/shape.hpp"
#include "heed/study/markov_source.hpp"

using namespace heed;

Array stationary_distribution(const Array& P);
double entropy_rate(const Array& P);

namespace {

// The entropy of a choice with probabilities p and 1 - p.
double binary_entropy(double p) { return -p * std::log(p) - (1 - p) * std::log(1 - p); }

void judge(const std::string& name, const Array& P, const Array& expected, double nats) {
  expect(name + ": stationary distribution", stationary_distribution(P), expected, 1e-4);
  const double came = entropy_rate(P);
  expect(name + ": entropy rate", std::abs(came - nats) <= 1e-4,
         "expected " + decimal(nats, 4) + ", came " + decimal(came, 4));
}

// Two letters: 1 follows 0 with probability q, 0 follows 1 with probability r.
void judge_two(const std::string& name, double q, double r) {
  const Array P{{Real(1 - q), Real(q)}, {Real(r), Real(1 - r)}};
  judge(name, P, Array{Real(r / (q + r)), Real(q / (q + r))},
        (r * binary_entropy(q) + q * binary_entropy(r)) / (q + r));
}

// A random chain; MarkovSource computes the expected results.
void judge_random(const std::string& name, std::size_t N, std::uint64_t seed) {
  Array P = Generator(seed).uniform({N, N}, 0.05, 1);
  std::vector<MarkovSource::State> states(N);
  for (std::size_t i = 0; i < N; ++i) {
    P(i, (i + 2) % N) = 0;
    double sum = 0;
    for (std::size_t j = 0; j < N; ++j) sum += double(P(i, j));
    for (std::size_t j = 0; j < N; ++j) {
      if (P(i, j) > 0) states[i].letters.push_back({char('a' + j), double(P(i, j)) / sum, j});
      P(i, j) = Real(double(P(i, j)) / sum);
    }
  }
  const MarkovSource source(states);
  Array expected = zeros({N});
  for (std::size_t i = 0; i < N; ++i) expected(i) = Real(source.stationary_distribution()[i]);
  judge(name, P, expected, source.entropy_rate());
}

}  // namespace

int main() {
  judge("a fair coin", {{0.5, 0.5}, {0.5, 0.5}}, {0.5, 0.5}, std::log(2.0));
  judge_two("one letter three times as frequent", 0.1, 0.3);
  judge("letter 1 never follows letter 1", {{0.5, 0.5}, {1, 0}}, {Real(2.0 / 3), Real(1.0 / 3)},
        2.0 / 3 * std::log(2.0));
  judge("a cycle of three letters", {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}},
        {Real(1.0 / 3), Real(1.0 / 3), Real(1.0 / 3)}, 0);
  // Every second letter is 0; the others are 1 or 2.
  judge("period two", {{0, 0.5, 0.5}, {1, 0, 0}, {1, 0, 0}}, {0.5, 0.25, 0.25},
        0.5 * std::log(2.0));
  judge_two("rare changes", 0.002, 0.001);
  judge_random("five letters", 5, 1);
  judge_random("eight letters", 8, 2);
  return verdict();
}
