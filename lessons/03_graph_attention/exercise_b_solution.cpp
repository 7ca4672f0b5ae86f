// 03b wrong_axis: correct an attention function that is right on one graph and wrong on others.
//
// A graph has N nodes with queries (N, D), keys (N, D) and values (N, E). mask (N, N) is 1 in row
// i, column j if node i attends to node j, else 0. attend returns the output of every node (N, E):
//
// 1. The score of nodes i and j is the dot product of query i and key j. This line is right.
// 2. Softmax turns the scores into attention weights. For each node i, its weights sum to one.
//    Scores may be in the hundreds, so the maximum is subtracted before exp.
// 3. The output of node i is the weighted sum of the values of the nodes that it attends to.
// 4. The output of a node that attends to no node is zero.
//
// The author tested attend on three words that attend to each other, where each word's vector is
// its query, its key and its value. The result was right there, because two mistakes cancel: if you
// correct only one of them, it is wrong there too. Find out why, and make attend right on every
// graph.

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
  // Your part begins here.
  for (std::size_t i = 0; i < nodes; ++i) {
    Real maximum = -std::numeric_limits<Real>::infinity(), sum = 0;
    for (std::size_t j = 0; j < nodes; ++j)
      if (mask(i, j) > 0) maximum = std::max(maximum, scores(i, j));
    for (std::size_t j = 0; j < nodes; ++j)
      if (mask(i, j) > 0) weights(i, j) = std::exp(scores(i, j) - maximum);
    for (std::size_t j = 0; j < nodes; ++j) sum += weights(i, j);
    for (std::size_t j = 0; j < nodes; ++j)
      if (mask(i, j) > 0) weights(i, j) /= sum;  // a fully masked row stays zero
  }
  for (std::size_t i = 0; i < nodes; ++i)
    for (std::size_t j = 0; j < nodes; ++j)
      for (std::size_t d = 0; d < values.shape(1); ++d)
        output(i, d) += weights(i, j) * values(j, d);
  // Your part ends here.
  return output;
}
