// 09 planted_nan: a token that may look at nobody, and gradients that are not numbers.
//
// Below is this lesson's attention by hand, forward and backward. hidden (N, N) says where token i
// must not look at token j. Texts of one batch are made equally long with a filler that means
// nothing: all of its row is hidden, and it is to hear zeros. Somebody took care of that, in heard,
// and what is heard is right. Yet the filler's row of dQ, and all of dK and dV, are NaN.
//
// Find where the first NaN is made, and mend it there. Do not turn NaN into zero wherever it shows
// up: a NaN that comes in must come out, or nobody learns that something is wrong. In gdb, with
// ./heed debug exercise 9, arrays print as matrices: stop in a function, step on, print them.

#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;
using xt::linalg::dot;

// Your part begins here.
// Each row of scores becomes shares, which are positive and sum to one.
Array softmax_rows(const Array& scores) {
  Array shares = zeros({scores.shape(0), scores.shape(1)});
  for (std::size_t i = 0; i < scores.shape(0); ++i) {
    Real top = -INFINITY, sum = 0;
    for (std::size_t j = 0; j < scores.shape(1); ++j) top = std::max(top, scores(i, j));
    for (std::size_t j = 0; j < scores.shape(1); ++j) {
      shares(i, j) = std::exp(scores(i, j) - top);  // e^0 at most: no score is too large
      sum += shares(i, j);
    }
    for (std::size_t j = 0; j < scores.shape(1); ++j) shares(i, j) /= sum;
  }
  return shares;
}

// Who listens to whom: Q and K (N, D) give A (N, N).
Array attention_shares(const Array& Q, const Array& K, const Mask& hidden) {
  Array scores = dot(Q, xt::transpose(K)) / std::sqrt(Real(Q.shape(1)));
  for (std::size_t i = 0; i < scores.shape(0); ++i)
    for (std::size_t j = 0; j < scores.shape(1); ++j)
      if (hidden(i, j)) scores(i, j) = -INFINITY;
  return softmax_rows(scores);
}

// What each token hears: A V, (N, D).
Array heard(const Array& Q, const Array& K, const Array& V, const Mask& hidden) {
  Array R = dot(attention_shares(Q, K, hidden), V);
  for (std::size_t i = 0; i < R.shape(0); ++i) {
    std::size_t seen = 0;
    for (std::size_t j = 0; j < R.shape(0); ++j) seen += hidden(i, j) ? 0 : 1;
    for (std::size_t d = 0; d < R.shape(1); ++d)
      if (seen == 0) R(i, d) = 0;
  }
  return R;
}

// dQ, dK and dV, from the dR (N, D) that arrives at what was heard.
std::vector<Array> gradients(const Array& Q, const Array& K, const Array& V, const Mask& hidden,
                             const Array& dR) {
  const Real root = std::sqrt(Real(Q.shape(1)));
  Array A = attention_shares(Q, K, hidden);
  Array dV = dot(xt::transpose(A), dR), dA = dot(dR, xt::transpose(V));
  Array average = xt::sum(A * dA, {1});
  Array dS = A * (dA - xt::view(average, xt::all(), xt::newaxis()));
  Array dQ = dot(dS, K) / root, dK = dot(xt::transpose(dS), Q) / root;
  return {dQ, dK, dV};
}
// Your part ends here.
