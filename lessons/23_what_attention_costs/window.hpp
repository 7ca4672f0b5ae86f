// window.hpp: the mask of a sliding window with loops, and the receptive field of several
// layers, for lesson 23.
#pragma once

#include "lesson.hpp"

namespace heed {

// (n, n): true where query t may attend to key s, its own or one of the window - 1 before it.
inline Mask window_by_hand(std::size_t n, std::size_t window) {
  Mask may_attend = mask({n, n});
  for (std::size_t t = 0; t < n; ++t)
    for (std::size_t s = 0; s <= t; ++s) may_attend(t, s) = t - s < window;
  return may_attend;
}

inline std::size_t number_of_pairs(const Mask& may_attend) {
  std::size_t pairs = 0;
  for (const bool pair : may_attend) pairs += pair;
  return pairs;
}

// Draws n positions. '#': the last output of several layers of attention depends on the input at
// this position, so its gradient is not exactly 0. '.': its gradient is 0.
inline std::string receptive_field(std::size_t n, std::size_t layers, std::size_t window,
                                   Generator& g) {
  constexpr std::size_t width = 8;
  Parameters parameters;
  std::vector<nn::MultiHeadAttention> stack;
  for (std::size_t i = 0; i < layers; ++i)
    stack.emplace_back(Scope(parameters, g) / "layer" / i, width, 2);
  const Tensor x(g.randn({1, n, width}), /*requires_grad=*/true);
  nn::AttentionMask last_keys;
  last_keys.causal = true, last_keys.window = window;
  Tensor y = x;
  for (const nn::MultiHeadAttention& layer : stack) y = y + layer(y, last_keys);
  backward(sum(select(y, 1, -1) * g.randn({1, width})));
  std::string positions;
  for (std::size_t t = 0; t < n; ++t)
    positions += xt::amax(xt::abs(xt::view(x.grad(), 0, t)))() == 0 ? '.' : '#';
  return positions;
}

}  // namespace heed
