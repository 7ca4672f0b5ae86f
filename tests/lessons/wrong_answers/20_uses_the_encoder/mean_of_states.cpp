// All positions use the mean of the encoder's states.
#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;

// The score of position j of line b. P is not needed.
double score(const Array& s, const Array& H, const Array& W, const Array& U, const Array& v,
             const Array&, std::size_t b, std::size_t) {
  double sum = 0;
  for (std::size_t a = 0; a < v.size(); ++a) {
    double hidden = 0;
    for (std::size_t c = 0; c < s.shape(1); ++c) hidden += double(W(a, c)) * double(s(b, c));
    for (std::size_t j = 0; j < H.shape(1); ++j)
      for (std::size_t d = 0; d < H.shape(2); ++d)
        hidden += double(U(a, d)) * double(H(b, j, d)) / double(H.shape(1));
    sum += double(v(a)) * std::tanh(hidden);
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
