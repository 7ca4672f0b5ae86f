// 04 read_token_0: set W_Q and W_K by hand so that token 2 attends to token 0.
//
// X (3, d) contains three token vectors of length one that are orthogonal to each other: X X^T is
// the identity. Your functions get X and return matrices for this X. (The vectors need not be like
// 0 1 0 0: each may have many numbers that are not zero.) The tokens attend to each other as in
// lesson 04, without a mask:
//
//   Q = X W_Q and K = X W_K, both (3, h)      attention weights = softmax(Q K^T / sqrt(h)), (3, 3)
//
// The attention weight of token 2 for token 0 must be above 0.9. The weights of tokens 0 and 1 for
// themselves must be above 0.9, too. Return both matrices, each (d, h). You choose h.

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
Array query_matrix(const Array& X) {
  Array queries = {{20, 0, 0}, {0, 20, 0}, {20, 0, 0}};  // row i: the query of token i
  return xt::linalg::dot(xt::transpose(X), queries);     // X X^T is the identity: X W_Q = queries
}

Array key_matrix(const Array& X) { return xt::transpose(X); }
// Your part ends here.
