// 21 uses_the_encoder: attention weights that depend on the encoder's states.
//
// Scores from the decoder's state alone are called LOCATION-BASED (Luong et al. 2015, "Effective
// Approaches to Attention-based Neural Machine Translation", equation 8; a much-read PyTorch
// tutorial used such scores for years). The encoder's states are then values only. Here row j of a
// matrix P times the decoder's state s is the score of position j. Such a model trains, and its
// loss falls (lesson 21, question 3). But it cannot search the text: no weight depends on the state
// at its position.
//
// Write the additive score of Bahdanau, Cho and Bengio (2014), for line b of a batch and position j
// of this line:
//
//   e_j = v . tanh(W s + U h_j)
//
//   s (B, C) has the decoder's state s of each line, H (B, S, D) the encoder's states h_j of each
//   line. W (A, C), U (A, D), v (A): A is the width of the hidden layer. B, S, A, C and D differ.
//
// attention_weights below computes the softmax of your scores. The judge compares the weights with
// its own, and it changes one encoder state and checks whether the weight of its position changes.
// As handed out, no weight changes.

#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
// The score of position j of line b. (P has at least S rows and C columns.)
double score(const Array& s, const Array& H, const Array& W, const Array& U, const Array& v,
             const Array& P, std::size_t b, std::size_t j) {
  (void)H, (void)W, (void)U, (void)v;
  double sum = 0;
  for (std::size_t c = 0; c < s.shape(1); ++c) sum += double(P(j, c)) * double(s(b, c));
  return sum;
}
// Your part ends here.

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
