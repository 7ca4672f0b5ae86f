// 04b attention_end_to_end: one causal attention head, from the token vectors to its output.
//
// X (T, d) contains one token vector per row. Compute, in this order:
//
//   Q = X W_Q, K = X W_K    W_Q and W_K are (d, d_k), Q and K are (T, d_k)
//   V = X W_V               W_V is (d, d_v), V is (T, d_v)
//   S = Q K^T / sqrt(d_k)   the scores, (T, T): rows query, columns key positions
//   A = softmax of S        the attention weights, (T, T): query t attends to the keys 0 to t
//   output = A V            (T, d_v)
//
// Use loops or xtensor (xt::linalg::dot, xt::transpose), but no attention function of heed. Scores
// may be as large as 100000 and as small as -100000. If a later token is replaced by any other
// finite vector, no bit of an earlier row of the output may change. In general d, d_k, d_v and T
// all differ.
//
// Before your changes, each token attends to itself only: the output is V.

#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
Array attention_head(const Array& X, const Array& W_Q, const Array& W_K, const Array& W_V) {
  (void)W_Q, (void)W_K;
  return xt::linalg::dot(X, W_V);
}
// Your part ends here.
