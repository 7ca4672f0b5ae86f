// 21 both_paths: additive attention and its gradients, by loops.
//
// Write the attention of Bahdanau, Cho and Bengio (2014) without autograd. For line b of a batch,
// with the decoder's state s (row b of x.s) and the encoder's states h_j (x.H, row j of line b):
//
//   e_j = v . tanh(W s + U h_j)      the score of position j
//   a = softmax(e)                   the weights of the positions 0 to lengths[b] - 1
//   c = sum over j of a_j h_j        the context vector
//
// attention() returns the weights and the context vectors. gradients() gets dc (B, D), the gradient
// of a loss with respect to the context vectors, and returns the gradients with respect to s, H, W,
// U and v (lesson 06 has the softmax). The loss depends on h_j by two paths: h_j is a value, and it
// is a key. Padding has the weight 0 and the gradient 0, whatever its numbers are. All sizes
// differ.
//
// The judge computes the same with autograd. As handed out, the scores are taken from the decoder's
// state alone, so all weights are equal, and only one of the two paths has a gradient. (Scores that
// use no encoder state are called LOCATION-BASED: Luong et al. 2015, equation 8. A model with them
// trains, its loss falls, and it cannot search.)

#include <algorithm>
#include <cmath>

#include "additive.hpp"
#include "exercise.hpp"

using namespace heed;

// Your part begins here.
// The hidden layer of line b and position j: A numbers.
std::vector<double> hidden_layer(const Inputs& x, std::size_t b, std::size_t j) {
  (void)j;
  std::vector<double> hidden(x.v.size(), 0);
  for (std::size_t a = 0; a < hidden.size(); ++a) {
    for (std::size_t c = 0; c < x.s.shape(1); ++c) hidden[a] += double(x.W(a, c)) * x.s(b, c);
    hidden[a] = std::tanh(hidden[a]);
  }
  return hidden;
}

Attention attention(const Inputs& x) {
  Attention result{zeros({x.H.shape(0), x.H.shape(1)}), zeros({x.H.shape(0), x.H.shape(2)})};
  for (std::size_t b = 0; b < x.H.shape(0); ++b) {
    std::vector<double> e(x.lengths[b], 0);
    double sum = 0;
    for (std::size_t j = 0; j < e.size(); ++j) {
      const std::vector<double> hidden = hidden_layer(x, b, j);
      for (std::size_t a = 0; a < hidden.size(); ++a) e[j] += double(x.v(a)) * hidden[a];
    }
    const double maximum = *std::max_element(e.begin(), e.end());
    for (double& score : e) sum += score = std::exp(score - maximum);
    for (std::size_t j = 0; j < e.size(); ++j) {
      result.weights(b, j) = Real(e[j] / sum);
      for (std::size_t d = 0; d < x.H.shape(2); ++d)
        result.context(b, d) += result.weights(b, j) * x.H(b, j, d);
    }
  }
  return result;
}

Gradients gradients(const Inputs& x, const Array& dc) {
  const Array weights = attention(x).weights;
  Gradients g = no_gradients(x);
  for (std::size_t b = 0; b < x.H.shape(0); ++b)
    for (std::size_t j = 0; j < x.lengths[b]; ++j)
      for (std::size_t d = 0; d < dc.shape(1); ++d) g.H(b, j, d) = weights(b, j) * dc(b, d);
  return g;
}
// Your part ends here.
