// by_hand.hpp: a step of a GRU, additive scores and a context vector, by loops (lesson 21).
#pragma once

#include <cmath>

#include "translator.hpp"

namespace heed {

using Doubles = std::vector<double>;

inline Doubles numbers_of(const Array& x) { return Doubles(x.begin(), x.end()); }
inline Doubles row_of(const Array& x, std::size_t j) {
  return numbers_of(Array(xt::row(x, std::ptrdiff_t(j))));
}

// The rows as an array (rows, columns).
inline Array array_of(const std::vector<Doubles>& rows) {
  Array x = zeros({rows.size(), rows[0].size()});
  for (std::size_t i = 0; i < x.size(); ++i)
    x.data()[i] = Real(rows[i / rows[0].size()][i % rows[0].size()]);
  return x;
}

// Row `row` of the layer's weight (out, in) times x (in).
inline double row_times(const nn::Linear& layer, std::size_t row, const Doubles& x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += double(layer.weight.value()(row, i)) * x[i];
  return sum;
}

// x (in) times column `column` of weight (in, out).
inline double times_column(const Doubles& x, const Tensor& weight, std::size_t column) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * double(weight.value()(i, column));
  return sum;
}

// The next hidden state of a GRU.
inline Doubles gru_by_hand(const Gru& gru, const Doubles& x, const Doubles& h) {
  const auto sigma = [](double y) { return 1 / (1 + std::exp(-y)); };
  const std::size_t C = h.size();
  const auto from_x = [&](std::size_t column) {
    return times_column(x, gru.input, column) + double(gru.bias.value()(0, column));
  };
  const auto from_h = [&](std::size_t column) { return times_column(h, gru.state, column); };
  Doubles next(C);
  for (std::size_t c = 0; c < C; ++c) {
    const double r = sigma(from_x(c) + from_h(c)), z = sigma(from_x(C + c) + from_h(C + c));
    const double n = std::tanh(from_x(2 * C + c) + r * from_h(2 * C + c));
    next[c] = (1 - z) * n + z * h[c];
  }
  return next;
}

// The GRU of the encoder that reads forwards (0) or backwards (1).
inline Gru direction(const Gru& encoder, int d) {
  Gru one = encoder;
  one.input = select(encoder.input, 0, d), one.bias = select(encoder.bias, 0, d);
  one.state = select(encoder.state, 0, d);
  return one;
}

// The states h_j of the encoder for a text: (S, 2C).
inline std::vector<Doubles> encoder_by_hand(const Translator& model, const std::string& text) {
  const std::size_t S = text.size(), C = model.encoder.state.size(1);
  const Array x = select(model.character(tokens_of({text})), 0, 0).value();  // (S, C)
  std::vector<Doubles> H(S);
  Doubles forwards(C, 0), backwards(C, 0);
  for (std::size_t j = 0; j < S; ++j) {
    forwards = gru_by_hand(direction(model.encoder, 0), row_of(x, j), forwards);
    H[j] = forwards;
  }
  for (std::size_t j = S; j-- > 0;) {
    backwards = gru_by_hand(direction(model.encoder, 1), row_of(x, j), backwards);
    H[j].insert(H[j].end(), backwards.begin(), backwards.end());
  }
  return H;
}

// The scores v . tanh(W s + U h_j) of the state s and each state h_j.
inline Doubles scores_by_hand(const Translator& model, const Doubles& s,
                              const std::vector<Doubles>& H) {
  Doubles scores;
  for (const Doubles& h : H) {
    Doubles hidden;
    for (std::size_t c = 0; c < s.size(); ++c)
      hidden.push_back(std::tanh(row_times(model.W, c, s) + row_times(model.U, c, h)));
    scores.push_back(row_times(model.v, 0, hidden));
  }
  return scores;
}

// The sum of the states h_j, weighted by the softmax of the scores.
inline Doubles context_by_hand(const Doubles& scores, const std::vector<Doubles>& H) {
  double sum = 0;
  for (const double score : scores) sum += std::exp(score);
  Doubles context(H[0].size(), 0);
  for (std::size_t j = 0; j < H.size(); ++j)
    for (std::size_t c = 0; c < context.size(); ++c)
      context[c] += std::exp(scores[j]) / sum * H[j][c];
  return context;
}

}  // namespace heed
