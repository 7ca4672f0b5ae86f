// The maximum includes masked scores: exp of the others can become 0, and 0 / 0 is NaN.
#include <algorithm>
#include <cmath>
#include <limits>

#include "exercise.hpp"

using namespace heed;

Array attend(const Array& mask, const Array& queries, const Array& keys, const Array& values) {
  const std::size_t nodes = mask.shape(0);
  Array scores = xt::linalg::dot(queries, xt::transpose(keys));  // (N, N)
  Array weights = zeros({nodes, nodes});
  Array output = zeros({nodes, values.shape(1)});
  for (std::size_t i = 0; i < nodes; ++i) {
    Real maximum = scores(i, 0), sum = 0;
    for (std::size_t j = 0; j < nodes; ++j) maximum = std::max(maximum, scores(i, j));
    for (std::size_t j = 0; j < nodes; ++j)
      if (mask(i, j) > 0) weights(i, j) = std::exp(scores(i, j) - maximum);
    for (std::size_t j = 0; j < nodes; ++j) sum += weights(i, j);
    for (std::size_t j = 0; j < nodes; ++j)
      if (mask(i, j) > 0) weights(i, j) /= sum;
  }
  for (std::size_t i = 0; i < nodes; ++i)
    for (std::size_t j = 0; j < nodes; ++j)
      for (std::size_t d = 0; d < values.shape(1); ++d)
        output(i, d) += weights(i, j) * values(j, d);
  return output;
}
