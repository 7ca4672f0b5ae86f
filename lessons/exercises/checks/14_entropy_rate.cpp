// 14 entropy_rate: chains whose shares and entropy can be had by hand, and some that can't.

#include <cmath>

#include "exercise.hpp"
#include "heed/array/shape.hpp"
#include "heed/study/markov_source.hpp"

using namespace heed;

Array shares(const Array& P);
double entropy(const Array& P);

namespace {

double coin(double p) { return -p * std::log(p) - (1 - p) * std::log(1 - p); }

void judge(const std::string& name, const Array& P, const Array& wanted, double nats) {
  expect(name + ": its shares of the text", shares(P), wanted, 1e-4);
  const double came = entropy(P);
  expect(name + ": its entropy", std::abs(came - nats) <= 1e-4,
         "expected " + decimal(nats, 4) + ", came " + decimal(came, 4));
}

// After letter 0 it stays with probability 1 - q, after letter 1 with 1 - r.
void judge_two(const std::string& name, double q, double r) {
  const Array P{{Real(1 - q), Real(q)}, {Real(r), Real(1 - r)}};
  judge(name, P, Array{Real(r / (q + r)), Real(q / (q + r))},
        (r * coin(q) + q * coin(r)) / (q + r));
}

// Nothing is known of it by hand; heed's Source says what it has.
void judge_any(const std::string& name, std::size_t N, std::uint64_t seed) {
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
  Array wanted = zeros({N});
  for (std::size_t i = 0; i < N; ++i) wanted(i) = Real(source.stationary_distribution()[i]);
  judge(name, P, wanted, source.entropy_rate());
}

}  // namespace

int main() {
  judge("a fair coin", {{0.5, 0.5}, {0.5, 0.5}}, {0.5, 0.5}, std::log(2.0));
  judge_two("one letter three times as frequent", 0.1, 0.3);
  judge("never b after b", {{0.5, 0.5}, {1, 0}}, {Real(2.0 / 3), Real(1.0 / 3)},
        2.0 / 3 * std::log(2.0));
  judge("round in a circle", {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}},
        {Real(1.0 / 3), Real(1.0 / 3), Real(1.0 / 3)}, 0);
  // Every second letter is 0, and the others are 1 or 2.
  judge("to and fro", {{0, 0.5, 0.5}, {1, 0, 0}, {1, 0, 0}}, {0.5, 0.25, 0.25},
        0.5 * std::log(2.0));
  judge_two("slow to change", 0.002, 0.001);
  judge_any("five letters", 5, 1);
  judge_any("eight letters", 8, 2);
  return verdict();
}
