// Counts a row once for each such position, not once.
#include "exercise.hpp"

using namespace heed;

Array scores(const Array& weights, const std::vector<int>& tokens) {
  const std::size_t H = weights.shape(0), T = weights.shape(1);
  Array result = zeros({H});
  for (std::size_t h = 0; h < H; ++h) {
    Real sum = 0, rows = 0;
    for (std::size_t t = 0; t < T; ++t) {
      for (std::size_t s = 1; s <= t; ++s)
        if (tokens[s - 1] == tokens[t]) sum += weights(h, t, s), rows += 1;
    }
    if (rows > 0) result(h) = sum / rows;
  }
  return result;
}
