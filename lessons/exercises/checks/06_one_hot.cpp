// 06 one_hot: compares the factor with the median of the factors that the rows need.

#include <algorithm>
#include <cmath>
#include <limits>

#include "exercise.hpp"

using namespace heed;

double one_hot_factor(const Array& scores);

// The sum of the other weights divided by the largest weight, minus 1/99 (a row is one-hot if this
// is negative), and its derivative by the factor.
struct Excess {
  double value, derivative;
};

Excess excess(const std::vector<double>& gaps, double factor) {
  Excess e{-1.0 / 99, 0};
  for (double gap : gaps) {
    e.value += std::exp(-factor * gap);
    e.derivative -= gap * std::exp(-factor * gap);
  }
  return e;
}

// The smallest factor at which a row is one-hot, by Newton's method. The excess is convex and
// decreasing, so the iteration from 0 increases and never passes the root. Infinite if the largest
// score occurs twice.
double factor_of(const Array& scores, std::size_t row) {
  std::vector<double> gaps;
  double maximum = scores(row, 0);
  for (std::size_t j = 0; j < scores.shape(1); ++j)
    maximum = std::max(maximum, double(scores(row, j)));
  for (std::size_t j = 0; j < scores.shape(1); ++j) gaps.push_back(maximum - scores(row, j));
  std::sort(gaps.begin(), gaps.end());
  gaps.erase(gaps.begin());  // the gap of the largest score itself
  if (gaps.front() == 0) return std::numeric_limits<double>::infinity();
  double factor = 0;
  for (int step = 0; step < 500; ++step) {
    const Excess e = excess(gaps, factor);
    factor -= e.value / e.derivative;
  }
  return factor;
}

void judge(const std::string& what, const Array& scores) {
  std::vector<double> factors;
  for (std::size_t i = 0; i < scores.shape(0); ++i) factors.push_back(factor_of(scores, i));
  std::sort(factors.begin(), factors.end());
  const double expected = factors[(factors.size() + 1) / 2 - 1];
  const double factor = one_hot_factor(scores);
  const auto one_hot = std::count_if(factors.begin(), factors.end(),
                                     [&](double needed) { return needed <= factor; });
  expect(what, std::abs(factor - expected) <= 0.001 * expected,
         "expected " + decimal(expected, 4) + ", got " + decimal(factor, 4) + ", where " +
             std::to_string(one_hot) + " of " + std::to_string(factors.size()) +
             (factors.size() == 1 ? " row is one-hot" : " rows are one-hot"));
}

int main() {
  Generator g(6);
  judge("one row", g.randn({1, 4}));
  judge("three rows, of which two are at least half", g.randn({3, 3}));
  Array four = g.randn({4, 5});
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 5; ++j) four(i, j) *= Real(std::pow(10, i));
  judge("four rows, each ten times the previous one", four);
  judge("two keys", g.randn({100, 2}));
  judge("large scores", g.normal({101, 8}, 0, 64));
  judge("small scores", g.normal({64, 16}, 0, 0.01));
  judge("scores far from zero", g.normal({50, 6}, -1000, 1));
  Array tied = g.randn({10, 3});
  for (std::size_t i = 0; i < 4; ++i) tied(2 * i, 0) = tied(2 * i, 2) = 5;
  judge("ten rows, of which four are never one-hot", tied);
  return verdict();
}
