// 16 above_equal: the same token score of heads, above that of equal weights.
//
// A score counts only beside that of equal weights. So return the difference of the two.
//
// weights are (H, T, T): the attention weights of H causal heads. tokens are T numbers. The query t
// counts if its token stands at an earlier position s < t. Its score is the head's weight on all
// such positions together. With equal weights, each of the t + 1 keys that the query sees, itself
// included, would have the weight 1 / (t + 1). Return one number for each head, (H): the mean score
// over the queries that count, minus the mean score of equal weights over the same queries. Return
// 0 if no query counts.
//
// As handed out, all queries count, and nothing is subtracted.

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
Array above_equal(const Array& weights, const std::vector<int>& tokens) {
  const std::size_t H = weights.shape(0), T = weights.shape(1);
  Array result = zeros({H});
  for (std::size_t h = 0; h < H; ++h)
    for (std::size_t t = 1; t < T; ++t)
      for (std::size_t s = 0; s < t; ++s)  // earlier positions with the same token
        if (tokens[s] == tokens[t]) result(h) += weights(h, t, s) / Real(T - 1);
  return result;
}
// Your part ends here.
