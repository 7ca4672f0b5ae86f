// softmax_in_blocks.hpp: attention with loops, which reads the keys in blocks and never stores
// all scores of a query (online softmax), for lesson 23.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "lesson.hpp"

namespace heed {

// What a query keeps of the keys so far: the row maximum m, the row sum l of exp(score - m), and o,
// the sum of exp(score - m) v. The attention of the keys so far is o / l.
struct OnlineSoftmax {
  explicit OnlineSoftmax(std::size_t width) : o(width, 0) {}
  double m = -std::numeric_limits<double>::infinity();
  double l = 0;
  std::vector<double> o;
};

// Adds the keys with these scores, whose values are the rows first, first + 1, ... of V (S, d_v).
inline void add_block(OnlineSoftmax& row, const std::vector<double>& scores, const Array& V,
                      std::size_t first) {
  const double m = std::max(row.m, *std::max_element(scores.begin(), scores.end()));
  const double rescale = std::exp(row.m - m);  // 1 if the maximum is still the same
  row.m = m;
  row.l *= rescale;
  for (double& o : row.o) o *= rescale;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    const double e = std::exp(scores[j] - m);
    row.l += e;
    for (std::size_t d = 0; d < row.o.size(); ++d) row.o[d] += e * double(V(first + j, d));
  }
}

// The scores q_t . k_s / sqrt(d) of the keys first to end - 1.
inline std::vector<double> scores_of(const Array& Q, const Array& K, std::size_t t,
                                     std::size_t first, std::size_t end) {
  std::vector<double> scores(end - first, 0);
  for (std::size_t s = first; s < end; ++s)
    for (std::size_t d = 0; d < Q.shape(1); ++d)
      scores[s - first] += double(Q(t, d)) * double(K(s, d)) / std::sqrt(double(Q.shape(1)));
  return scores;
}

// softmax(Q K^T / sqrt(d)) V, with `size` scores at a time: Q (T, d), K (S, d), V (S, d_v).
inline Array online_attention(const Array& Q, const Array& K, const Array& V, std::size_t size) {
  Array output = zeros({Q.shape(0), V.shape(1)});
  for (std::size_t t = 0; t < Q.shape(0); ++t) {
    OnlineSoftmax row(V.shape(1));
    for (std::size_t first = 0; first < K.shape(0); first += size)
      add_block(row, scores_of(Q, K, t, first, std::min(first + size, K.shape(0))), V, first);
    for (std::size_t d = 0; d < V.shape(1); ++d) output(t, d) = Real(row.o[d] / row.l);
  }
  return output;
}

// A row for each block: its largest score, and m, l and o / l of query 0 after this block.
inline Array online_steps(const Array& Q, const Array& K, const Array& V, std::size_t size) {
  const std::size_t blocks = K.shape(0) / size, width = V.shape(1);
  Array table = zeros({blocks, 3 + width});
  OnlineSoftmax row(width);
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::vector<double> scores = scores_of(Q, K, 0, b * size, (b + 1) * size);
    add_block(row, scores, V, b * size);
    table(b, 0) = Real(*std::max_element(scores.begin(), scores.end()));
    table(b, 1) = Real(row.m), table(b, 2) = Real(row.l);
    for (std::size_t d = 0; d < width; ++d) table(b, 3 + d) = Real(row.o[d] / row.l);
  }
  return table;
}

}  // namespace heed
