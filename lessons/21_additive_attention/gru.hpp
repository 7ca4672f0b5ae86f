// gru.hpp: the gated recurrent unit of lesson 21.
#pragma once

#include <algorithm>
#include <cmath>

#include "lesson.hpp"

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

  // Two GRUs read x (2, B, S, in): x[0] has the lines, x[1] the same lines from the end. Returns
  // their states at each position (B, S, 2C), and the last state of each (B, 2C).
  std::pair<Tensor, Tensor> both_directions(const Tensor& x) const {
    const auto B = std::int64_t(x.size(1)), S = std::int64_t(x.size(2));
    const Tensor a =
        reshape(projected(reshape(x, {2, B * S, -1})), {2, B, S, -1});  // (2, B, S, 3C)
    std::vector<Tensor> h = {Tensor(zeros({2, std::size_t(B), state.size(-2)}))};
    for (int t = 0; t < S; ++t) h.push_back(next(select(a, 2, t), h.back()));  // (2, B, C)
    const Tensor last = concat({select(h.back(), 0, 0), select(h.back(), 0, 1)}, -1);
    h.erase(h.begin());
    const Tensor forwards = select(stack(h, 2), 0, 0);  // (B, S, C)
    std::reverse(h.begin(), h.end());                   // the second GRU began at the end
    return {concat({forwards, select(stack(h, 2), 0, 1)}, -1), last};
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

}  // namespace heed
