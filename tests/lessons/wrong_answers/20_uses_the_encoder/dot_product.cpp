// A dot product of W s and U h_j, scaled by v: not the additive score.
#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;

// The score of position j of line b. P is not needed.
double score(const Array& s, const Array& H, const Array& W, const Array& U, const Array& v,
             const Array&, std::size_t b, std::size_t j) {
  double sum = 0;
  for (std::size_t a = 0; a < v.size(); ++a) {
    double query = 0, key = 0;
    for (std::size_t c = 0; c < s.shape(1); ++c) query += double(W(a, c)) * double(s(b, c));
    for (std::size_t d = 0; d < H.shape(2); ++d) key += double(U(a, d)) * double(H(b, j, d));
    sum += double(v(a)) * query * key;
  }
  return sum;
}

// The attention weights (B, S). Line b has lengths[b] positions; padding follows, with weight 0.
Array attention_weights(const Array& s, const Array& H, const Array& W, const Array& U,
                        const Array& v, const Array& P, const std::vector<std::size_t>& lengths) {
  Array weights = zeros({H.shape(0), H.shape(1)});
  for (std::size_t b = 0; b < H.shape(0); ++b) {
    std::vector<double> scores;
    for (std::size_t j = 0; j < lengths[b]; ++j) scores.push_back(score(s, H, W, U, v, P, b, j));
    const double maximum = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    for (double& e : scores) sum += e = std::exp(e - maximum);
    for (std::size_t j = 0; j < lengths[b]; ++j) weights(b, j) = Real(scores[j] / sum);
  }
  return weights;
}
