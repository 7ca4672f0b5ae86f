// 16 another_kind: score heads for a fourth kind, which looks for what followed last time.
//
// Having read "the cat. the c", a good guess for what comes next is what came after the c before.
// Some heads look there: from a place t, they attend to the places s after an earlier place that
// holds the symbol of t, so that symbols[s - 1] is symbols[t], and s is at most t. (Such heads are
// called induction heads: Olsson et al. 2022.)
//
// weights are (H, T, T), one causal head after the other; symbols are T numbers. Give one score for
// each head, (H): the share that row t gives to all such places together, and of that the mean over
// the rows that have such a place. A row without one does not count. If no row has one, give 0.
// Hint: What is there now scores the same symbol, not the place after it, and divides by all rows.
// Hint: After an earlier place s - 1 < t comes s <= t: it may be t itself, as in "tt".
// Hint: Count the rows that have such a place, and divide by that count at the end.

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
Array scores(const Array& weights, const std::vector<int>& symbols) {
  const std::size_t H = weights.shape(0), T = weights.shape(1);
  Array result = zeros({H});
  for (std::size_t h = 0; h < H; ++h) {
    Real sum = 0, rows = 0;
    for (std::size_t t = 0; t < T; ++t) {
      bool any = false;
      for (std::size_t s = 1; s <= t; ++s)
        if (symbols[s - 1] == symbols[t]) sum += weights(h, t, s), any = true;
      if (any) rows += 1;
    }
    if (rows > 0) result(h) = sum / rows;
  }
  return result;
}
// Your part ends here.
