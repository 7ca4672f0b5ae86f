// Tests exercise 15 choose (inverse transform sampling): u inside each token's interval of the
// cumulative distribution, at its upper end and close to 1; high, low and tiny temperatures; large
// and infinite logits.

#include <algorithm>
#include <cmath>
#include <limits>

#include "exercise.hpp"

using namespace heed;

std::size_t choose(const Array& logits, double temperature, double u);

using Numbers = std::vector<double>;
const Real infinity = std::numeric_limits<Real>::infinity();

Numbers softmax_by_hand(const Array& logits, double temperature) {
  double maximum = -infinity, sum = 0;
  for (const Real z : logits) maximum = std::max(maximum, double(z));
  Numbers p;
  for (const Real z : logits) p.push_back(std::exp((double(z) - maximum) / temperature));
  for (const double part : p) sum += part;
  for (double& part : p) part /= sum;
  return p;
}

std::string token(std::size_t v) { return "token " + std::to_string(v); }

// "0.5000", and more digits where they matter: "1.0e-30", "0.9999999999999999".
std::string in_digits(double x) {
  if (x != 0 && std::abs(x) < 0.01) return scientific(x, 1);
  return decimal(x, x < 1 && x > 0.9999 ? 16 : x < 1 ? 4 : 2);
}

// "" if the reader's function returns the expected token.
std::string fault(const Array& logits, double temperature, double u, std::size_t expected) {
  const std::size_t got = choose(logits, temperature, u);
  if (got == expected) return "";
  std::string text = "logits";
  for (std::size_t v = 0; v < std::min<std::size_t>(logits.size(), 5); ++v)
    text += " " + (std::abs(logits(v)) < 0.01 ? in_digits(logits(v)) : decimal(logits(v), 2));
  return text + (logits.size() > 5 ? " ..." : "") + ", temperature " + in_digits(temperature) +
         ", u " + in_digits(u) + ":\nexpected " + token(expected) + ", got " + token(got);
}

// u near the lower end, in the middle and near the upper end of each token's interval, if it is
// long enough.
std::string fault_within(const Array& logits, double temperature) {
  const Numbers p = softmax_by_hand(logits, temperature);
  double begin = 0;
  std::string found;
  for (std::size_t v = 0; v < p.size() && found.empty(); begin += p[v++])
    for (const double position : {0.01, 0.5, 0.99})
      if (p[v] > 1e-3 && found.empty())
        found = fault(logits, temperature, begin + position * p[v], v);
  return found;
}

void judge(const std::string& what, const Array& logits, const Numbers& temperatures) {
  std::string found;
  for (const double temperature : temperatures)
    if (found.empty()) found = fault_within(logits, temperature);
  expect(what, found.empty(), found);
}

// The largest u below 1. The rounding errors depend on the logits, so 300 vectors of logits are
// tested.
std::string fault_near_one(std::size_t excluded) {
  const double u = std::nextafter(1.0, 0.0);
  std::string found;
  for (std::uint64_t seed = 0; seed < 300 && found.empty(); ++seed) {
    Array logits = Generator(seed).randn({40});
    for (std::size_t i = 0; i < excluded; ++i) logits(39 - i) = -infinity;
    found = fault(logits, 0.7, u, 39 - excluded);
  }
  return found;
}

void judge_greedy() {
  const Array logits = {1, 3, -2, 3, 2}, below_zero = {-5, -3, -infinity, -4};
  std::string found;
  for (const double u : {0.0, 0.3, 0.9, 0.9999}) {
    if (found.empty()) found = fault(logits, 0, u, 1);
    if (found.empty()) found = fault(below_zero, 0, u, 1);
  }
  expect("at temperature 0 the first token with the largest logit, for every u", found.empty(),
         found);
  found = fault({1, 2, 3, 2}, 1e-30, 0.9999, 2);
  if (found.empty()) found = fault({-3, -2, -1, -2}, 1e-30, 0, 2);
  expect("at temperature 1e-30 the token with the largest logit", found.empty(), found);
}

// Tiny temperatures, at which several tokens are possible: only temperature 0 is greedy.
void judge_tiny_temperatures() {
  const Array logits = {0, 1, Real(-0.5), Real(0.8)};
  std::string found;
  for (const double temperature : {1e-3, 1e-6, 1e-9, 1e-20, 1e-30})
    if (found.empty()) found = fault_within(logits * Real(temperature), temperature);
  expect("tiny temperatures above 0 are no greedy choice", found.empty(), found);
}

void judge_excluded() {
  const Array logits = {-infinity, 1, -infinity, 2, -infinity};
  judge("tokens with a logit of minus infinity are never returned", logits, {0.5, 1, 2});
  std::string found = fault(logits, 1, 0, 1);
  if (found.empty()) found = fault(logits, 1e6, 0, 1);
  expect("u = 0 gives the first token with a probability above 0", found.empty(), found);
}

// Equal logits: the intervals end at multiples of 1 / V, which are exact in binary for V = 2 and 4.
void judge_upper_ends() {
  std::string found = fault({1, 1}, 1, 0.5, 1);
  for (const double u : {0.0, 0.25, 0.5, 0.75})
    if (found.empty()) found = fault({3, 3, 3, 3}, 2, u, std::size_t(4 * u));
  expect("a part does not include its upper end", found.empty(), found);
}

int main() {
  const Array three = {2, 1, 0}, sixty = Generator(15).randn({60});
  judge("three tokens at temperature 1", three, {1});
  judge("three tokens at low and high temperatures", three, {0.25, 0.5, 2, 10});
  judge("three tokens at temperatures 0.02 and 0.05", {Real(1), Real(1.03), Real(0.98)},
        {0.02, 0.05});
  judge_upper_ends();
  judge("sixty tokens", sixty, {0.3, 1, 3, 100});
  judge("logits below zero", sixty - Real(20), {0.5, 1, 2});
  judge("logits in the thousands", three + Real(3000), {0.5, 1, 2});
  judge("logits far below zero", three - Real(9000), {0.5, 1, 2});
  judge_greedy();
  judge_tiny_temperatures();
  judge_excluded();
  for (const std::size_t excluded : {0u, 5u}) {
    const std::string found = fault_near_one(excluded);
    expect(
        "u just below 1" + std::string(excluded ? ", if the last tokens have probability 0" : ""),
        found.empty(), found);
  }
  return verdict();
}
