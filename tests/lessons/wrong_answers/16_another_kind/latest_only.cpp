// Uses only the latest of several such positions in a row.
#include "exercise.hpp"

using namespace heed;

Array scores(const Array& weights, const std::vector<int>& tokens) {
  const std::size_t H = weights.shape(0), T = weights.shape(1);
  Array result = zeros({H});
  for (std::size_t h = 0; h < H; ++h) {
    Real sum = 0, rows = 0;
    for (std::size_t t = 0; t < T; ++t) {
      bool any = false;
      for (std::size_t s = t; s >= 1 && !any; --s)
        if (tokens[s - 1] == tokens[t]) sum += weights(h, t, s), any = true;
      if (any) rows += 1;
    }
    if (rows > 0) result(h) = sum / rows;
  }
  return result;
}
