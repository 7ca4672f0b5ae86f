// 13 four_faults: each of the four is asked for by itself, then all of them together.

#include <cmath>

#include "exercise.hpp"
#include "heed/nn/gpt.hpp"

using namespace heed;

Tensor through(const nn::Block& block, const Tensor& x);

namespace {

constexpr std::size_t B = 2, T = 5, C = 8;

// A block whose weights, those of its norms too, are random numbers.
struct Random {
  explicit Random(std::uint64_t seed) : g(seed), block(Scope(parameters, g), C, 2) {
    for (Tensor p : parameters) p.mutable_value() = g.normal(p.shape(), 0, 0.5);
  }
  // Makes a branch of the block say nothing.
  void silence(const nn::Linear& last) {
    for (Tensor p : {last.weight, last.bias}) p.mutable_value() = zeros(p.shape());
  }
  Parameters parameters;
  Generator g;
  nn::Block block;
};

// (x - mean) / spread * weight + bias, of one row of x.
std::vector<double> normed(const nn::LayerNorm& norm, const Array& x, std::size_t b,
                           std::size_t t) {
  double mean = 0, variance = 0;
  for (std::size_t c = 0; c < C; ++c) mean += x(b, t, c) / double(C);
  for (std::size_t c = 0; c < C; ++c) variance += std::pow(x(b, t, c) - mean, 2) / double(C);
  std::vector<double> row;
  for (std::size_t c = 0; c < C; ++c)
    row.push_back((x(b, t, c) - mean) / std::sqrt(variance + 1e-5) * norm.weight.value()(c) +
                  norm.bias.value()(c));
  return row;
}

std::vector<double> linear_of(const nn::Linear& layer, const std::vector<double>& x) {
  std::vector<double> y;
  for (std::size_t o = 0; o < layer.weight.value().shape(0); ++o) {
    y.push_back(layer.bias.value()(o));
    for (std::size_t i = 0; i < x.size(); ++i) y.back() += layer.weight.value()(o, i) * x[i];
  }
  return y;
}

// x + mlp(norm2(x)), by hand.
Array with_mlp(const nn::Block& block, const Array& x) {
  Array y = x;
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t t = 0; t < T; ++t) {
      std::vector<double> inner = linear_of(block.mlp.up, normed(block.norm2, x, b, t));
      for (double& v : inner) v *= (1 + std::erf(v / std::sqrt(2.0))) / 2;
      const std::vector<double> row = linear_of(block.mlp.down, inner);
      for (std::size_t c = 0; c < C; ++c) y(b, t, c) += Real(row[c]);
    }
  return y;
}

std::string leak(const nn::Block& block, const Array& x) {
  const Array before = through(block, Tensor(x)).value();
  for (std::size_t s = 1; s < T; ++s) {
    Array changed = x;
    for (std::size_t c = 0; c < C; ++c) changed(0, s, c) += Real(c);
    const Array after = through(block, Tensor(changed)).value();
    for (std::size_t t = 0; t < s; ++t)
      for (std::size_t c = 0; c < C; ++c)
        if (std::abs(before(0, t, c) - after(0, t, c)) > 1e-4)
          return "row " + std::to_string(t) + " changes when row " + std::to_string(s) + " does";
  }
  return "";
}

}  // namespace

int main() {
  Generator g(13);
  const Array x = g.randn({B, T, C});
  Random silent(1), no_attention(2), no_mlp(3), whole(4), other(5);
  expect("it has the shape of x", shape_of(through(whole.block, Tensor(x)).value()) == shape_of(x),
         "it has not");
  silent.silence(silent.block.attention.out);
  silent.silence(silent.block.mlp.down);
  expect("two branches that say nothing leave x as it is", through(silent.block, Tensor(x)).value(),
         x);
  no_attention.silence(no_attention.block.attention.out);
  expect("x + mlp(norm(x)), when attention says nothing",
         through(no_attention.block, Tensor(x)).value(), with_mlp(no_attention.block, x), 1e-4);
  no_mlp.silence(no_mlp.block.mlp.down);
  const std::string found = leak(no_mlp.block, x);
  expect("no row hears a later one", found.empty(), found);
  nn::AttentionMask past;
  past.causal = true;
  for (const Random* random : {&no_mlp, &whole, &other})
    expect(random == &no_mlp ? "x + attention(norm(x)), when the MLP says nothing" : "all of it",
           through(random->block, Tensor(x)).value(), random->block(Tensor(x), past).value(), 1e-4);
  return verdict();
}
