// 16 another_kind: another kind of head, the induction head, and its pattern score.
//
// After the text "the cat. the c", a good prediction of the next character is the one that followed
// the earlier "c". An induction head (Elhage et al. 2021) finds it. From query position t it
// attends to the key positions s, at most t, that follow the same token: tokens[s-1] == tokens[t].
//
// weights are (H, T, T): the attention weights of H causal heads. tokens are T numbers. Return one
// score for each head, (H): the attention weights of row t on all such positions, summed; then the
// mean of these sums over the rows that have such a position. Return 0 if no row has one.

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
Array scores(const Array& weights, const std::vector<int>& tokens) {
  const std::size_t H = weights.shape(0), T = weights.shape(1);
  Array result = zeros({H});
  for (std::size_t h = 0; h < H; ++h) {
    Real sum = 0, rows = 0;
    for (std::size_t t = 0; t < T; ++t) {
      bool any = false;
      for (std::size_t s = 1; s <= t; ++s)
        if (tokens[s - 1] == tokens[t]) sum += weights(h, t, s), any = true;
      if (any) rows += 1;
    }
    if (rows > 0) result(h) = sum / rows;
  }
  return result;
}
// Your part ends here.
