// 16 another_kind: heads whose scores are known, random ones, and texts without such a place.

#include <cstddef>

#include "exercise.hpp"
#include "heed/array/shape.hpp"

using namespace heed;

Array scores(const Array& weights, const std::vector<int>& symbols);

namespace {

using Symbols = std::vector<int>;

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

// For each row the places that count, then their shares.
Array wanted(const Array& weights, const Symbols& symbols) {
  std::vector<std::vector<std::size_t>> places(symbols.size());
  for (std::size_t before = 0; before + 1 < symbols.size(); ++before)
    for (std::size_t t = before + 1; t < symbols.size(); ++t)
      if (symbols[t] == symbols[before]) places[t].push_back(before + 1);
  Array result = zeros({weights.shape(0)});
  for (std::size_t h = 0; h < weights.shape(0); ++h) {
    double sum = 0, rows = 0;
    for (std::size_t t = 0; t < symbols.size(); ++t) {
      for (const std::size_t s : places[t]) sum += double(weights(h, t, s));
      rows += places[t].empty() ? 0 : 1;
    }
    result(h) = rows > 0 ? Real(sum / rows) : Real(0);
  }
  return result;
}

void judge(const std::string& what, const Array& weights, const Symbols& symbols) {
  expect(what, scores(weights, symbols), wanted(weights, symbols));
}

// One head that does nothing else, and one that never does.
Array planted(const Symbols& symbols) {
  const std::size_t T = symbols.size();
  Array weights = zeros({2, T, T});
  for (std::size_t t = 0; t < T; ++t) {
    std::size_t to = 0;
    for (std::size_t s = 1; s <= t; ++s)
      if (symbols[s - 1] == symbols[t]) to = s;
    weights(0, t, to) = 1, weights(1, t, 0) = 1;
  }
  return weights;
}

}  // namespace

int main() {
  const Symbols twice = {3, 1, 4, 2, 3, 1, 4, 2};
  expect("one head does it always, one never", scores(planted(twice), twice), Array{1, 0});
  judge("three heads, the same four symbols twice", heads(3, 8, 1), twice);
  judge("rows without such a place do not count", heads(2, 6, 2), {1, 2, 3, 4, 5, 1});
  judge("a row may have several", heads(2, 7, 3), {1, 2, 1, 3, 1, 4, 1});
  judge("a symbol may follow itself", heads(2, 5, 4), {7, 7, 7, 1, 1});
  judge("no row has such a place", heads(2, 4, 5), {1, 2, 3, 4});
  judge("one symbol alone", heads(1, 1, 6), {5});
  return verdict();
}
