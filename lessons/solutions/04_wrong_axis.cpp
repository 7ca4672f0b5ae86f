// 04 wrong_axis: attention that is right on the graph it was tried on, and wrong on most others.
//
// There are N nodes with queries (N, D), keys (N, D) and values (N, E). hears (N, N) holds a 1 in
// row i, column j where node i hears node j, elsewhere 0. attend returns what each node receives
// (N, E), and should do so thus:
//
// 1. Node i scores node j by the dot product of query i and key j. This part is right.
// 2. Softmax makes these scores shares of what node i hears. They sum to one for each node i.
//    Scores may be in the hundreds, so the largest is subtracted before exp.
// 3. Node i receives the sum of the values of the nodes it hears, each times its share.
// 4. A node that hears nobody receives zeros.
//
// It was tried on three words that all hear each other, each word its own query, key and value.
// There it is right, but only because two mistakes cancel each other: with one of them mended it is
// wrong there too. Find out why that graph did not tell, and make all of the above true.
// Hint: Which index is the listener's? The sum that divides a share runs over the other one.
// Hint: There hears and scores are the same when transposed: swapping i and j does not show.
// Hint: What is zero divided by zero?

#include <algorithm>
#include <cmath>
#include <limits>

#include "exercise.hpp"

using namespace heed;

Array attend(const Array& hears, const Array& queries, const Array& keys, const Array& values) {
  const std::size_t nodes = hears.shape(0);
  Array scores = xt::linalg::dot(queries, xt::transpose(keys));  // (N, N)
  Array shares = zeros({nodes, nodes});
  Array received = zeros({nodes, values.shape(1)});
  // Your part begins here.
  for (std::size_t i = 0; i < nodes; ++i) {
    Real top = -std::numeric_limits<Real>::infinity(), sum = 0;
    for (std::size_t j = 0; j < nodes; ++j)
      if (hears(i, j) > 0) top = std::max(top, scores(i, j));
    for (std::size_t j = 0; j < nodes; ++j)
      if (hears(i, j) > 0) shares(i, j) = std::exp(scores(i, j) - top);
    for (std::size_t j = 0; j < nodes; ++j) sum += shares(i, j);
    for (std::size_t j = 0; j < nodes; ++j)
      if (hears(i, j) > 0) shares(i, j) /= sum;  // never where nobody is heard and sum is zero
  }
  for (std::size_t i = 0; i < nodes; ++i)
    for (std::size_t j = 0; j < nodes; ++j)
      for (std::size_t d = 0; d < values.shape(1); ++d)
        received(i, d) += shares(i, j) * values(j, d);
  // Your part ends here.
  return received;
}
