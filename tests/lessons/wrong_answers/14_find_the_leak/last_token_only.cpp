// Changes only the last token.
#include <algorithm>
#include <cmath>
#include <functional>

#include "exercise.hpp"

using namespace heed;
using Model = std::function<Array(const Indices&)>;

bool proves_leak(const Array& losses, double entropy_rate) {
  const double error = xt::stddev(losses)() / std::sqrt(double(losses.size()));
  return xt::mean(losses)() < entropy_rate - 3 * error;
}

std::size_t first_leak(const Model& model, const Indices& tokens, std::size_t V) {
  const std::size_t T = tokens.size();
  const Array before = model(tokens);
  std::size_t first = T;
  for (const std::size_t s : {T - 1})
    for (std::size_t v = 0; v < V; ++v) {
      Indices changed = tokens;
      changed(s) = std::int64_t(v);
      const Array after = model(changed);
      for (std::size_t t = 0; t < std::min(s, first); ++t)
        for (std::size_t w = 0; w < V; ++w)
          if (after(t, w) != before(t, w)) first = std::min(first, t);
    }
  return first;
}
