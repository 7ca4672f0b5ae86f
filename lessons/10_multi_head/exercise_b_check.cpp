// Tests exercise 10b silence_a_head: ablates each head in turn, with loops in double, masks and
// biases.

#include <cmath>

#include "exercise.hpp"
#include "heed/nn/attention.hpp"

using namespace heed;

Tensor without_head(const nn::MultiHeadAttention& heads, const Tensor& x,
                    const nn::AttentionMask& mask, std::size_t silent);

using Doubles = xt::xarray<double>;

// Applies the linear layer to the rows of x (B, T, C).
Doubles through(const nn::Linear& layer, const Doubles& x) {
  const Array &W = layer.weight.value(), &bias = layer.bias.value();
  Doubles y = xt::zeros<double>({x.shape(0), x.shape(1), W.shape(0)});
  for (std::size_t b = 0; b < x.shape(0); ++b)
    for (std::size_t t = 0; t < x.shape(1); ++t)
      for (std::size_t i = 0; i < W.shape(0); ++i) {
        y(b, t, i) = bias(i);
        for (std::size_t d = 0; d < W.shape(1); ++d) y(b, t, i) += W(i, d) * x(b, t, d);
      }
  return y;
}

bool may_attend(const nn::AttentionMask& mask, std::size_t t, std::size_t s) {
  return !(mask.causal && s > t) && !(mask.mask && !(*mask.mask)(t, s));
}

// Adds the output of head h for query t of sentence b to the columns of the head in `outputs`.
void add_output(std::size_t b, std::size_t t, std::size_t h, std::size_t size, const Doubles& Q,
                const Doubles& K, const Doubles& V, const nn::AttentionMask& mask,
                Doubles& outputs) {
  std::vector<double> e(Q.shape(1), 0);  // exp(score)
  double sum = 0;
  for (std::size_t s = 0; s < e.size(); ++s) {
    double score = 0;
    for (std::size_t d = h * size; d < (h + 1) * size; ++d) score += Q(b, t, d) * K(b, s, d);
    if (may_attend(mask, t, s)) e[s] = std::exp(score / std::sqrt(double(size)));
    sum += e[s];
  }
  for (std::size_t s = 0; s < e.size(); ++s)
    for (std::size_t d = h * size; d < (h + 1) * size; ++d)
      outputs(b, t, d) += e[s] / sum * V(b, s, d);
}

Array expected_output(const nn::MultiHeadAttention& heads, const Array& x,
                      const nn::AttentionMask& mask, std::size_t silent) {
  const Doubles in = x, Q = through(heads.query, in), K = through(heads.key, in);
  const Doubles V = through(heads.value, in);
  Doubles outputs = xt::zeros<double>(Q.shape());
  for (std::size_t b = 0; b < x.shape(0); ++b)
    for (std::size_t t = 0; t < x.shape(1); ++t)
      for (std::size_t h = 0; h < heads.num_heads; ++h)
        if (h != silent) add_output(b, t, h, x.shape(2) / heads.num_heads, Q, K, V, mask, outputs);
  return through(heads.out, outputs);
}

void check_heads(const std::string& what, std::size_t num_heads, const Shape& shape,
                 const nn::AttentionMask& mask, Generator& g) {
  Parameters parameters;
  const nn::MultiHeadAttention heads({parameters, g}, shape[2], num_heads);
  const Array x = g.randn(shape) * Real(2);
  const Array before = heads(Tensor(x), mask).value();
  for (std::size_t h = 0; h < num_heads; ++h) {
    const Array expected = expected_output(heads, x, mask, h);
    const Array got = without_head(heads, Tensor(x), mask, h).value();
    expect(what + ": head " + std::to_string(h) + " ablated", got, expected);
  }
  expect(what + ": heads did not change", heads(Tensor(x), mask).value(), before, 0);
}

int main() {
  Generator g(11);
  nn::AttentionMask all, causal, others;
  causal.causal = true;
  others.mask = Mask{{false, true, true}, {true, false, true}, {true, true, false}};
  check_heads("two heads of 3", 2, {2, 4, 6}, all, g);
  check_heads("three heads of 2, causal", 3, {1, 5, 6}, causal, g);
  check_heads("four heads of 4, no token attends to itself", 4, {2, 3, 16}, others, g);
  check_heads("one head of 5", 1, {2, 3, 5}, causal, g);
  return verdict();
}
