// cache.hpp: causal attention token by token with loops, with and without a KV cache, which
// counts its multiplications, for lesson 23.
#pragma once

#include <cmath>

#include "lesson.hpp"

namespace heed {

struct HeadWeights {
  Array W_Q, W_K, W_V;  // (C, D) each
};

// Row t of X (n, C) times W (C, D).
inline std::vector<double> projected(const Array& X, std::size_t t, const Array& W,
                                     double& multiplications) {
  std::vector<double> result(W.shape(1), 0);
  for (std::size_t c = 0; c < W.shape(0); ++c)
    for (std::size_t d = 0; d < W.shape(1); ++d)
      result[d] += double(X(t, c)) * double(W(c, d)), ++multiplications;
  return result;
}

using Rows = std::vector<std::vector<double>>;

// The attention of one query over the first `count` keys and values.
inline std::vector<double> attended(const std::vector<double>& q, const Rows& K, const Rows& V,
                                    std::size_t count, double& multiplications) {
  std::vector<double> result(V[0].size(), 0), e(count, 0);
  double sum = 0;
  for (std::size_t s = 0; s < count; ++s) {
    for (std::size_t d = 0; d < q.size(); ++d) e[s] += q[d] * K[s][d], ++multiplications;
    sum += e[s] = std::exp(e[s] / std::sqrt(double(q.size())));
  }
  for (std::size_t s = 0; s < count; ++s)
    for (std::size_t d = 0; d < result.size(); ++d)
      result[d] += e[s] / sum * V[s][d], ++multiplications;
  return result;
}

// The outputs (n, D) of n steps, and the multiplications of all steps together.
struct Steps {
  Array outputs;
  double multiplications = 0;
};

inline void write_row(Array& outputs, std::size_t t, const std::vector<double>& output) {
  for (std::size_t d = 0; d < output.size(); ++d) outputs(t, d) = Real(output[d]);
}

// Each step computes q, k and v of the new token, appends k and v, and attends with one query.
inline Steps with_cache(const Array& X, const HeadWeights& w) {
  Steps steps{zeros({X.shape(0), w.W_V.shape(1)})};
  double& count = steps.multiplications;
  Rows K, V;  // the cache
  for (std::size_t t = 0; t < X.shape(0); ++t) {
    K.push_back(projected(X, t, w.W_K, count));
    V.push_back(projected(X, t, w.W_V, count));
    write_row(steps.outputs, t, attended(projected(X, t, w.W_Q, count), K, V, t + 1, count));
  }
  return steps;
}

// Each step computes the outputs of all tokens so far again, because the next layer needs them.
inline Steps without_cache(const Array& X, const HeadWeights& w) {
  Steps steps{zeros({X.shape(0), w.W_V.shape(1)})};
  double& count = steps.multiplications;
  for (std::size_t t = 0; t < X.shape(0); ++t) {
    Rows K, V;
    for (std::size_t s = 0; s <= t; ++s) {
      K.push_back(projected(X, s, w.W_K, count));
      V.push_back(projected(X, s, w.W_V, count));
      write_row(steps.outputs, s, attended(projected(X, s, w.W_Q, count), K, V, s + 1, count));
    }
  }
  return steps;
}

}  // namespace heed
