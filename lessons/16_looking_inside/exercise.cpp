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
  for (std::size_t h = 0; h < H; ++h)
    for (std::size_t t = 1; t < T; ++t)
      for (std::size_t s = 0; s < t; ++s)  // earlier positions with the same token
        if (tokens[s] == tokens[t]) result(h) += weights(h, t, s) / Real(T - 1);
  return result;
}
// Your part ends here.
