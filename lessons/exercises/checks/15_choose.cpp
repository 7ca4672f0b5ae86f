// 15 choose: u in every stretch, at several temperatures; large and infinite scores; u close to 1.

#include <algorithm>
#include <cmath>
#include <limits>

#include "exercise.hpp"

using namespace heed;

std::size_t choose(const Array& scores, double temperature, double u);

using Shares = std::vector<double>;
const Real infinity = std::numeric_limits<Real>::infinity();

Shares shares_of(const Array& scores, double temperature) {
  double top = -infinity, sum = 0;
  for (const Real score : scores) top = std::max(top, double(score));
  Shares shares;
  for (const Real score : scores) shares.push_back(std::exp((double(score) - top) / temperature));
  for (const double share : shares) sum += share;
  for (double& share : shares) share /= sum;
  return shares;
}

std::string symbol(std::size_t v) { return "symbol " + std::to_string(v); }

// "0.50", and what that would hide in full: "1.0e-30", "0.9999999999999999".
std::string told(double x) {
  if (x > 0 && x < 0.01) return scientific(x, 1);
  return decimal(x, x < 1 && x > 0.9999 ? 16 : x < 1 ? 4 : 2);
}

// Empty when the right symbol comes.
std::string fault(const Array& scores, double temperature, double u, std::size_t wanted) {
  const std::size_t came = choose(scores, temperature, u);
  if (came == wanted) return "";
  std::string text = "scores";
  for (std::size_t v = 0; v < std::min<std::size_t>(scores.size(), 5); ++v)
    text += " " + decimal(scores(v), 2);
  return text + (scores.size() > 5 ? " ..." : "") + ", temperature " + told(temperature) + ", u " +
         told(u) + ":\n           expected " + symbol(wanted) + ", came " + symbol(came);
}

// u near the lower end, in the middle and near the upper end of each stretch that is not too short.
std::string fault_within(const Array& scores, double temperature) {
  const Shares shares = shares_of(scores, temperature);
  double begin = 0;
  std::string found;
  for (std::size_t v = 0; v < shares.size() && found.empty(); begin += shares[v++])
    for (const double place : {0.01, 0.5, 0.99})
      if (shares[v] > 1e-3 && found.empty())
        found = fault(scores, temperature, begin + place * shares[v], v);
  return found;
}

void judge(const std::string& what, const Array& scores, const Shares& temperatures) {
  std::string found;
  for (const double temperature : temperatures)
    if (found.empty()) found = fault_within(scores, temperature);
  expect(what, found.empty(), found);
}

// u as close to 1 as it gets. How shares round depends on the scores, so there are many of them.
std::string fault_at_the_end(std::size_t hidden) {
  const double u = std::nextafter(1.0, 0.0);
  std::string found;
  for (std::uint64_t seed = 0; seed < 300 && found.empty(); ++seed) {
    Array scores = Generator(seed).randn({40});
    for (std::size_t i = 0; i < hidden; ++i) scores(39 - i) = -infinity;
    found = fault(scores, 0.7, u, 39 - hidden);
  }
  return found;
}

void judge_cold() {
  const Array scores = {1, 3, -2, 3, 2}, below_zero = {-5, -3, -infinity, -4};
  std::string found;
  for (const double u : {0.0, 0.3, 0.9, 0.9999}) {
    if (found.empty()) found = fault(scores, 0, u, 1);
    if (found.empty()) found = fault(below_zero, 0, u, 1);
  }
  expect("at temperature 0 the first of the likeliest, whatever u is", found.empty(), found);
  found = fault({1, 2, 3, 2}, 1e-30, 0.9999, 2);
  if (found.empty()) found = fault({-3, -2, -1, -2}, 1e-30, 0, 2);
  expect("at a tiny temperature the likeliest", found.empty(), found);
}

void judge_hidden() {
  const Array scores = {-infinity, 1, -infinity, 2, -infinity};
  judge("symbols whose score is minus infinity are passed over", scores, {0.5, 1, 2});
  std::string found = fault(scores, 1, 0, 1);
  if (found.empty()) found = fault(scores, 1e6, 0, 1);
  expect("u = 0 is the first symbol's that has a share", found.empty(), found);
}

int main() {
  const Array three = {2, 1, 0}, sixty = Generator(15).randn({60});
  judge("three symbols at temperature 1", three, {1});
  judge("three symbols, cold and warm", three, {0.25, 0.5, 2, 10});
  judge("sixty symbols", sixty, {0.3, 1, 3, 100});
  judge("scores below zero", sixty - Real(20), {0.5, 1, 2});
  judge("scores in the thousands", three + Real(3000), {0.5, 1, 2});
  judge("scores far below zero", three - Real(9000), {0.5, 1, 2});
  judge_cold();
  judge_hidden();
  for (const std::size_t hidden : {0u, 5u}) {
    const std::string found = fault_at_the_end(hidden);
    expect("u just below 1" + std::string(hidden ? ", the last symbols having no share" : ""),
           found.empty(), found);
  }
  return verdict();
}
