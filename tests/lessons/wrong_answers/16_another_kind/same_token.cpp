// Scores the earlier position of the same token, not the position after it.
#include "exercise.hpp"

using namespace heed;

Array scores(const Array& weights, const std::vector<int>& tokens) {
  const std::size_t H = weights.shape(0), T = weights.shape(1);
  Array result = zeros({H});
  for (std::size_t h = 0; h < H; ++h) {
    Real sum = 0, rows = 0;
    for (std::size_t t = 0; t < T; ++t) {
      bool any = false;
      for (std::size_t s = 0; s < t; ++s)
        if (tokens[s] == tokens[t]) sum += weights(h, t, s), any = true;
      if (any) rows += 1;
    }
    if (rows > 0) result(h) = sum / rows;
  }
  return result;
}
