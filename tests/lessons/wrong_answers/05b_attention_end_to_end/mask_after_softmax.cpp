// The mask is applied after the softmax, so that a row of weights sums to less than one.
#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;
using xt::linalg::dot;

Array attention_head(const Array& X, const Array& W_Q, const Array& W_K, const Array& W_V) {
  const Array Q = dot(X, W_Q), K = dot(X, W_K), V = dot(X, W_V);
  Array S = dot(Q, xt::transpose(K)) / std::sqrt(Real(Q.shape(1)));  // (T, T)

  const Array maximum = xt::amax(S, {1});
  Array A = xt::exp(S - xt::view(maximum, xt::all(), xt::newaxis()));
  const Array sums = xt::sum(A, {1});
  A /= xt::view(sums, xt::all(), xt::newaxis());
  const Array causal = xt::tril(A);
  return dot(causal, V);
}
