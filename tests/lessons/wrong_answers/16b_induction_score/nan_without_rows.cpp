// 0 / 0 is NaN if no row counts.
#include "exercise.hpp"

using namespace heed;

// The position after the last earlier occurrence of the token at t, or 0 if there is none.
std::size_t after_previous(const std::vector<int>& tokens, std::size_t t) {
  std::size_t p = t;  // one above the position to compare
  while (p > 0 && tokens[p - 1] != tokens[t]) --p;
  return p;
}

Array induction_scores(const Array& weights, const std::vector<int>& tokens) {
  Array sums = zeros({weights.shape(0)});
  Real rows = 0;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const std::size_t s = after_previous(tokens, t);
    if (s == 0) continue;
    rows += 1;
    for (std::size_t h = 0; h < sums.size(); ++h) sums(h) += weights(h, t, s);
  }
  return sums / rows;
}
