// Tests exercise 16 above_equal: heads with known scores, random heads, and tokens that do not
// occur twice.

#include <cstddef>

#include "exercise.hpp"
#include "heed/array/shape.hpp"

using namespace heed;

Array above_equal(const Array& weights, const std::vector<int>& tokens);

namespace {

using Tokens = std::vector<int>;

// Random causal heads (H, T, T), rows summing to one.
Array heads(std::size_t H, std::size_t T, std::uint64_t seed) {
  Array weights = Generator(seed).uniform({H, T, T}, 0.1, 1);
  for (std::size_t h = 0; h < H; ++h)
    for (std::size_t t = 0; t < T; ++t) {
      double sum = 0;
      for (std::size_t s = 0; s <= t; ++s) sum += double(weights(h, t, s));
      for (std::size_t s = 0; s < T; ++s)
        weights(h, t, s) = s <= t ? Real(double(weights(h, t, s)) / sum) : Real(0);
    }
  return weights;
}

// The expected scores: collects the positions of each row first, then sums their weights.
Array expected_scores(const Array& weights, const Tokens& tokens) {
  std::vector<std::vector<std::size_t>> positions(tokens.size());
  for (std::size_t before = 0; before < tokens.size(); ++before)
    for (std::size_t t = before + 1; t < tokens.size(); ++t)
      if (tokens[t] == tokens[before]) positions[t].push_back(before);
  Array result = zeros({weights.shape(0)});
  for (std::size_t h = 0; h < weights.shape(0); ++h) {
    double score = 0, equal = 0, rows = 0;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      for (const std::size_t s : positions[t]) score += double(weights(h, t, s));
      equal += double(positions[t].size()) / double(t + 1);
      rows += positions[t].empty() ? 0 : 1;
    }
    result(h) = rows > 0 ? Real(score / rows - equal / rows) : Real(0);
  }
  return result;
}

void judge(const std::string& what, const Array& weights, const Tokens& tokens) {
  expect(what, above_equal(weights, tokens), expected_scores(weights, tokens));
}

// The weights (3, T, T) of a head that attends to the last such position, or to itself if there is
// none, of a head that attends to itself, and of a head with equal weights.
Array planted(const Tokens& tokens) {
  const std::size_t T = tokens.size();
  Array weights = zeros({3, T, T});
  for (std::size_t t = 0; t < T; ++t) {
    std::size_t to = t;
    for (std::size_t s = 0; s < t; ++s)
      if (tokens[s] == tokens[t]) to = s;
    weights(0, t, to) = 1, weights(1, t, t) = 1;
    for (std::size_t s = 0; s <= t; ++s) weights(2, t, s) = Real(1 / double(t + 1));
  }
  return weights;
}

}  // namespace

int main() {
  const Tokens once = {3, 1, 3}, twice = {3, 1, 4, 2, 3, 1, 4, 2};
  expect("three tokens: equal weights would have 1/3 on the earlier one",
         above_equal(planted(once), once), Array{Real(2.0 / 3), Real(-1.0 / 3), 0});
  judge("the same four tokens twice", planted(twice), twice);
  judge("three random heads", heads(3, 8, 1), twice);
  judge("queries without such a position do not count", heads(2, 6, 2), {1, 2, 3, 4, 5, 1});
  judge("a query may have several such positions", heads(2, 7, 3), {1, 2, 1, 3, 1, 4, 1});
  judge("a token may follow itself", heads(2, 5, 4), {7, 7, 7, 1, 1});
  judge("no query has such a position", heads(2, 4, 5), {1, 2, 3, 4});
  judge("large token numbers", heads(2, 5, 7), {50'256, 3, 50'256, 1'000'000, 3});
  judge("a single token", heads(1, 1, 6), {5});
  return verdict();
}
