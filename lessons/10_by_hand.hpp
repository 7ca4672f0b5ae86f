// 10_by_hand.hpp: attention, cross-entropy and Adam, by hand, for lesson 10.
#pragma once

#include <cmath>

#include "lesson.hpp"

namespace heed {

// Causal attention: tokens (N, C), matrices (C, d), result (N, d).
inline Array outputs_by_hand(const Array& tokens, const Array& W_Q, const Array& W_K,
                             const Array& W_V) {
  const Array Q = xt::linalg::dot(tokens, W_Q), K = xt::linalg::dot(tokens, W_K),
              values = xt::linalg::dot(tokens, W_V);
  const Array scores = xt::linalg::dot(Q, xt::transpose(K)) / std::sqrt(Real(Q.shape(1)));
  const Array e = xt::tril(xt::exp(scores)), sums = xt::sum(e, {1});  // 0 for later keys
  return xt::linalg::dot(e, values) / xt::view(sums, xt::all(), xt::newaxis());
}

// Random embeddings (3, 5) of 'dog sees dog': both 'dog' have the same.
inline Array dog_sees_dog(Generator& g) {
  Array tokens = g.randn({3, 5});
  xt::row(tokens, 2) = xt::row(tokens, 0);
  return tokens;
}

// The mean of -ln p(target), where p is the softmax of the logits.
inline Real cross_entropy_by_hand(const Array& logits,
                                  const Indices& targets) {  // (B, T, V), (B, T)
  const std::size_t B = targets.shape(0), T = targets.shape(1);
  Real sum = 0;
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t t = 0; t < T; ++t) {
      const Array e = xt::exp(xt::view(logits, b, t));
      sum -= std::log(e(std::size_t(targets(b, t))) / xt::sum(e)());
    }
  return sum / Real(B * T);
}

// Steps of Adam with the learning rate 0.05 for the loss 50 p^2, which change p. Row t of the
// result has the numbers of step t + 1: g, m, v, m', v' and the change of p.
inline Array adam_by_hand(double& p, std::size_t steps) {
  Array table = zeros({steps, 6});
  double m = 0, v = 0;
  for (std::size_t t = 1; t <= steps; ++t) {
    const double g = 100 * p;  // the derivative of 50 p^2
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    const double corrected_m = m / (1 - std::pow(0.9, t));
    const double corrected_v = v / (1 - std::pow(0.999, t));
    const double change = -0.05 * corrected_m / (std::sqrt(corrected_v) + 1e-8);
    xt::row(table, int(t) - 1) =
        Array{Real(g), Real(m), Real(v), Real(corrected_m), Real(corrected_v), Real(change)};
    p += change;
  }
  return table;
}

// The same steps by heed's optimizer, without weight decay. Returns p after them.
inline Tensor p_by_adamw(double p, std::size_t steps) {
  Parameters parameters;
  const Tensor parameter = parameters.add("p", scalar(Real(p)));
  optim::AdamW optimizer(parameters.tensors(), {0.05, 0.9, 0.999, 1e-8, 0});
  for (std::size_t t = 1; t <= steps; ++t) {
    optim::zero_grad(parameters.tensors());
    backward(power(parameter, 2) * 50);
    optimizer.step();
  }
  return parameter;
}

}  // namespace heed
