// 11 silence_a_head: each head silenced in turn, by loops in double, with masks and biases.

#include <cmath>

#include "exercise.hpp"
#include "heed/nn/attention.hpp"

using namespace heed;

Tensor without_head(const nn::MultiHeadAttention& heads, const Tensor& x,
                    const nn::AttentionMask& visible, std::size_t silent);

using Doubles = xt::xarray<double>;

// The rows of x (B, T, C) through the layer.
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

bool seen(const nn::AttentionMask& visible, std::size_t t, std::size_t s) {
  return !(visible.causal && s > t) && !(visible.mask && !(*visible.mask)(t, s));
}

// What row t of sentence b hears through head h, into heard(b, t, its columns).
void hear(std::size_t b, std::size_t t, std::size_t h, std::size_t size, const Doubles& Q,
          const Doubles& K, const Doubles& V, const nn::AttentionMask& visible, Doubles& heard) {
  std::vector<double> e(Q.shape(1), 0);
  double total = 0;
  for (std::size_t s = 0; s < e.size(); ++s) {
    double score = 0;
    for (std::size_t d = h * size; d < (h + 1) * size; ++d) score += Q(b, t, d) * K(b, s, d);
    if (seen(visible, t, s)) e[s] = std::exp(score / std::sqrt(double(size)));
    total += e[s];
  }
  for (std::size_t s = 0; s < e.size(); ++s)
    for (std::size_t d = h * size; d < (h + 1) * size; ++d)
      heard(b, t, d) += e[s] / total * V(b, s, d);
}

Array wanted(const nn::MultiHeadAttention& heads, const Array& x, const nn::AttentionMask& visible,
             std::size_t silent) {
  const Doubles in = x, Q = through(heads.query, in), K = through(heads.key, in);
  const Doubles V = through(heads.value, in);
  Doubles heard = xt::zeros<double>(Q.shape());
  for (std::size_t b = 0; b < x.shape(0); ++b)
    for (std::size_t t = 0; t < x.shape(1); ++t)
      for (std::size_t h = 0; h < heads.num_heads; ++h)
        if (h != silent) hear(b, t, h, x.shape(2) / heads.num_heads, Q, K, V, visible, heard);
  return through(heads.out, heard);
}

void judge(const std::string& what, std::size_t num_heads, const Shape& shape,
           const nn::AttentionMask& visible, Generator& g) {
  Parameters parameters;
  const nn::MultiHeadAttention heads({parameters, g}, shape[2], num_heads);
  const Array x = g.randn(shape) * Real(2);
  const Array before = heads(Tensor(x), visible).value();
  for (std::size_t h = 0; h < num_heads; ++h) {
    const Array want = wanted(heads, x, visible, h);
    const Array came = without_head(heads, Tensor(x), visible, h).value();
    expect(what + ": head " + std::to_string(h) + " silent", came, want);
  }
  expect(what + ": afterwards heads are as they were", heads(Tensor(x), visible).value(), before,
         0);
}

int main() {
  Generator g(11);
  nn::AttentionMask all, causal, others;
  causal.causal = true;
  others.mask = Mask{{false, true, true}, {true, false, true}, {true, true, false}};
  judge("two heads of 3", 2, {2, 4, 6}, all, g);
  judge("three heads of 2, causal", 3, {1, 5, 6}, causal, g);
  judge("four heads of 4, which see the others only", 4, {2, 3, 16}, others, g);
  judge("one head of 5", 1, {2, 3, 5}, causal, g);
  return verdict();
}
