// 05 read_token_0: set W_Q and W_K so that token 2 reads token 0.
//
// T (3, d) holds three tokens, each of length one and at right angles to the others: T times T
// transposed is the identity. (Rows like 0 1 0 0 are such tokens, but not all such tokens are so
// simple.) They attend to each other as in lesson 05, without a mask:
//
//   Q = T W_Q and K = T W_K, both (3, h);  shares = softmax(Q K^T / sqrt(h)), (3, 3)
//
// Token 2 shall give token 0 a share above 0.9. Tokens 0 and 1 shall give themselves one above 0.9.
// Make both matrices, (d, h). You choose h.
// Hint: First make keys that are easy to ask for. Which W_K makes T W_K the identity?
// Hint: Then write the queries down as you want them, a row for each token. Which W_Q gives them?
// Hint: Are the shares right but too small? Then ask louder.

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
Array query_matrix(const Array& T) {
  Array asks = {{20, 0, 0}, {0, 20, 0}, {20, 0, 0}};  // row i: whom token i asks for
  return xt::linalg::dot(xt::transpose(T), asks);     // since T times T transposed is the identity
}

Array key_matrix(const Array& T) { return xt::transpose(T); }
// Your part ends here.
