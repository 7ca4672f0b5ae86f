// leak_tests.hpp: two tests for leaks of a layer, and the comparison with shorter texts.
#pragma once

#include <cmath>
#include <cstring>
#include <functional>

#include "lesson.hpp"

namespace heed {

using Layer = std::function<Tensor(const Tensor&)>;  // token vectors (T, 5) to outputs (T, d_v)

// scaled_dot_product_attention with these projection matrices.
inline Layer attention_layer(const Tensor& W_Q, const Tensor& W_K, const Tensor& W_V,
                             const AttentionOptions& options) {
  return [=](const Tensor& x) {
    return scaled_dot_product_attention(matmul(x, W_Q), matmul(x, W_K), matmul(x, W_V), options);
  };
}

// Test 1. (t, s): 1 if any bit of output t changes when random vectors replace the tokens s to 2.
inline Array changed_outputs(const Layer& layer, const Array& x) {
  Array changed = zeros({3, 3});
  const Array before = layer(Tensor(x)).value();
  for (std::size_t trial = 0; trial < 300; ++trial) {  // 100 for each s
    const std::size_t s = trial % 3;
    Array other = x, noise = Generator(trial).normal({3, 5}, 0, std::pow(10, trial % 8) / 100);
    xt::view(other, xt::range(s, 3)) = xt::view(noise, xt::range(s, 3));
    const Array after = layer(Tensor(other)).value();
    for (std::size_t t = 0; t < 3; ++t)
      if (std::memcmp(&before(t, 0), &after(t, 0), before.shape(1) * sizeof(Real)) != 0)
        changed(t, s) = 1;
  }
  return changed;
}

// Test 2. (t, s): the norm of all derivatives of output t with respect to token s.
inline Array gradient_norms(const Layer& layer, const Array& x) {
  const Array out = layer(Tensor(x)).value();
  Array squares = zeros({3, 3});
  for (std::size_t i = 0; i < out.size(); ++i) {
    Tensor input(x, /*requires_grad=*/true);
    Array one_hot = zeros(out.shape());
    one_hot.data()[i] = 1;
    backward(layer(input), one_hot);  // input.grad() is the gradient of number i of the output
    Array square = input.grad() * input.grad(), sums = xt::sum(square, {1});
    xt::view(squares, i / out.shape(1)) += sums;
  }
  return xt::sqrt(squares);
}

// Row t of the outputs: the last output for the first t + 1 tokens alone.
inline Array outputs_of_prefixes(const Layer& layer, const Array& x) {
  Array outputs = layer(Tensor(x)).value();
  for (std::size_t t = 0; t < 3; ++t) {
    const Array prefix = xt::view(x, xt::range(0, t + 1));
    xt::view(outputs, t) = xt::view(layer(Tensor(prefix)).value(), t);
  }
  return outputs;
}

}  // namespace heed
