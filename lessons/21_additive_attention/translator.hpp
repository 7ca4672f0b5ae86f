// translator.hpp: the GRU, and an encoder and decoder with and without attention (lesson 21).
#pragma once

#include <algorithm>
#include <cmath>

#include "dates.hpp"

namespace heed {

// A gated recurrent unit (GRU), or two with separate weights that read a batch side by side: then
// all shapes below begin with an axis of size 2. The columns of `input` and `state` belong to the
// reset gate r, the update gate z and the candidate n, in this order.
struct Gru {
  Gru(const Scope& scope, std::size_t input_size, std::size_t C, bool two = false)
      : input(uniform(scope, "input", input_size, C, two)),
        bias(uniform(scope, "bias", 1, C, two)),
        state(uniform(scope, "state", C, C, two)) {}

  // The input x (B, in) and the hidden state h (B, C) give the next hidden state (B, C).
  Tensor operator()(const Tensor& x, const Tensor& h) const { return next(projected(x), h); }

  Tensor projected(const Tensor& x) const { return matmul(x, input) + bias; }  // (B, 3C)
  Tensor next(const Tensor& a, const Tensor& h) const {                        // a = projected(x)
    const std::int64_t C = std::int64_t(h.size(-1));
    const Tensor b = matmul(h, state);                                              // (B, 3C)
    const Tensor gates = sigmoid(slice(a, -1, 0, 2 * C) + slice(b, -1, 0, 2 * C));  // (B, 2C)
    const Tensor r = slice(gates, -1, 0, C), z = slice(gates, -1, C);               // (B, C)
    const Tensor n = tanh(slice(a, -1, 2 * C) + r * slice(b, -1, 2 * C));           // (B, C)
    return n + z * (h - n);  // (1 - z) n + z h
  }

  // Uniform in +-1 / sqrt(C), as in torch.nn.GRU.
  static Tensor uniform(const Scope& scope, const std::string& name, std::size_t rows,
                        std::size_t C, bool two) {
    const Shape shape = two ? Shape{2, rows, 3 * C} : Shape{rows, 3 * C};
    const double limit = 1 / std::sqrt(double(C));
    return scope.parameter(name, scope.generator.uniform(shape, -limit, limit));
  }

  Tensor input, bias, state;  // (in, 3C), (1, 3C) and (C, 3C)
};

// How the decoder's scores are computed. With `none` there are no scores: each context vector is
// the encoder's last state.
enum class Score { none, additive, dot, scaled_dot };

// What the encoder computes from B lines of S characters.
struct Encoded {
  Tensor H;     // (B, S, 2C): the states h_j of both directions
  Tensor keys;  // (B, S, C): U h_j, the projected keys, computed once for all output positions
  Tensor last;  // (B, 2C): the last state of each direction
};

// The decoder's results for N output positions.
struct Decoded {
  Tensor logits;   // (B, N, V)
  Tensor weights;  // (B, N, S): attention weights; undefined for Score::none
};

// Translates lines into ISO forms, character by character.
struct Translator {
  Translator(const Scope& scope, Score kind, std::size_t C)
      : score(kind),
        character(scope / "character", characters.size(), C),
        encoder(scope / "encoder", C, C, /*two=*/true),
        W(scope / "W", C, C, false),
        U(scope / "U", 2 * C, C, false),
        v(scope / "v", C, 1, false),
        first_state(scope / "first_state", 2 * C, C),
        decoder(scope / "decoder", 3 * C, C),
        output(scope / "output", 3 * C, characters.size()) {}

  Encoded encode(const Indices& lines) const {
    const std::size_t B = lines.shape(0), S = lines.shape(1), C = W.weight.size(0);
    const Indices both = xt::stack(xt::xtuple(lines, xt::flip(lines, 1)));    // (2, B, S)
    const Tensor x = reshape(character(both), {2, std::int64_t(B * S), -1});  // (2, B S, C)
    const Tensor a = reshape(encoder.projected(x), {2, std::int64_t(B), std::int64_t(S), -1});
    std::vector<Tensor> h = {encoder.next(select(a, 2, 0), Tensor(zeros({2, B, C})))};  // (2, B, C)
    for (std::size_t t = 1; t < S; ++t)
      h.push_back(encoder.next(select(a, 2, std::int64_t(t)), h.back()));
    const Tensor last = concat({select(h.back(), 0, 0), select(h.back(), 0, 1)}, -1);
    const Tensor forwards = select(stack(h, 2), 0, 0);  // (B, S, C)
    std::reverse(h.begin(), h.end());                   // the second GRU began at the end
    const Tensor H = concat({forwards, select(stack(h, 2), 0, 1)}, -1);  // (B, S, 2C)
    return {H, U(H), last};
  }

  // The scores (B, S) of the decoder's state s (B, C) with each position of the line.
  Tensor scores(const Tensor& s, const Tensor& keys) const {
    if (score == Score::additive)
      return squeeze(v(tanh(unsqueeze(W(s), 1) + keys)), -1);         // v . tanh(W s + U h_j)
    const Tensor dots = squeeze(matmul(keys, unsqueeze(s, -1)), -1);  // s . U h_j
    return score == Score::dot ? dots : dots / std::sqrt(double(s.size(-1)));
  }

  // N output characters. The previous character is the correct one if `targets` (B, N) are given,
  // and otherwise the most probable one.
  Decoded decode(const Indices& lines, std::size_t N, const Indices* targets = nullptr) const {
    const Encoded e = encode(lines);
    Tensor s = tanh(first_state(e.last)), c = e.last;  // (B, C) and (B, 2C)
    Indices previous = Indices::from_shape({lines.shape(0)});
    previous.fill(std::int64_t(characters.find(' ')));
    std::vector<Tensor> logits, weights;
    for (std::size_t i = 0; i < N; ++i) {
      if (score != Score::none) {
        weights.push_back(softmax(scores(s, e.keys), -1));          // (B, S)
        c = squeeze(matmul(unsqueeze(weights.back(), 1), e.H), 1);  // (B, 2C)
      }
      s = decoder(concat({character(previous), c}, -1), s);
      logits.push_back(output(concat({s, c}, -1)));  // (B, V)
      previous = argmax(logits.back(), -1);
      if (targets != nullptr) previous = xt::col(*targets, std::ptrdiff_t(i));
    }
    return {stack(logits, 1), weights.empty() ? Tensor() : stack(weights, 1)};
  }

  Score score;
  nn::Embedding character;
  Gru encoder;         // one GRU reads forwards, one backwards
  nn::Linear W, U, v;  // of the scores
  nn::Linear first_state;
  Gru decoder;
  nn::Linear output;
};

}  // namespace heed
