// Tests exercise 12 five_faults: checks each fault separately, then whole blocks with random
// weights.

#include <cmath>

#include "exercise.hpp"
#include "exercise_attention.hpp"
#include "heed/nn/gpt.hpp"

using namespace heed;

Tensor transformer_block(const nn::Norm& norm1, const Attention& attention, const nn::Norm& norm2,
                         const nn::Linear& up, const nn::Linear& down, const Tensor& x);

namespace {

constexpr std::size_t B = 2, T = 5, C = 8;

// The reader's function gets the parts of a block, so that it cannot call the block itself.
Array readers_result(const nn::Block& block, const Array& x) {
  const Attention attention{
      [&](const Tensor& y, const nn::AttentionMask& mask) { return block.attention(y, mask); }};
  return transformer_block(block.norm1, attention, block.norm2, block.mlp.up, block.mlp.down,
                           Tensor(x))
      .value();
}

// A block with random weights, in its layer norms too.
struct RandomBlock {
  explicit RandomBlock(std::uint64_t seed) : g(seed), block(Scope(parameters, g), C, 2) {
    for (Tensor p : parameters) p.mutable_value() = g.normal(p.shape(), 0, 0.5);
  }
  // Sets the last layer of a residual branch to 0, so that the branch's output is 0.
  void set_to_zero(const nn::Linear& last) {
    for (Tensor p : std::initializer_list<Tensor>{last.weight, last.bias})
      p.mutable_value() = zeros(p.shape());
  }
  Parameters parameters;
  Generator g;
  nn::Block block;
};

// (x - mean) / sqrt(variance + 1e-5) * weight + bias, for one row of x.
std::vector<double> norm_by_hand(const nn::Norm& norm, const Array& x, std::size_t b,
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

std::vector<double> linear_by_hand(const nn::Linear& layer, const std::vector<double>& x) {
  std::vector<double> y;
  for (std::size_t o = 0; o < layer.weight.value().shape(0); ++o) {
    y.push_back(layer.bias.value()(o));
    for (std::size_t i = 0; i < x.size(); ++i) y.back() += layer.weight.value()(o, i) * x[i];
  }
  return y;
}

// x + mlp(norm2(x)), by hand.
Array add_mlp(const nn::Block& block, const Array& x) {
  Array y = x;
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t t = 0; t < T; ++t) {
      std::vector<double> inner = linear_by_hand(block.mlp.up, norm_by_hand(block.norm2, x, b, t));
      for (double& v : inner) v *= (1 + std::erf(v / std::sqrt(2.0))) / 2;
      const std::vector<double> row = linear_by_hand(block.mlp.down, inner);
      for (std::size_t c = 0; c < C; ++c) y(b, t, c) += Real(row[c]);
    }
  return y;
}

// "" if no row of the result depends on a later row of x.
std::string leak(const nn::Block& block, const Array& x) {
  const Array before = readers_result(block, x);
  for (std::size_t s = 1; s < T; ++s) {
    Array changed = x;
    for (std::size_t c = 0; c < C; ++c) changed(0, s, c) += Real(c);
    const Array after = readers_result(block, changed);
    for (std::size_t t = 0; t < s; ++t)
      for (std::size_t c = 0; c < C; ++c)
        if (std::abs(before(0, t, c) - after(0, t, c)) > 1e-4)
          return "row " + std::to_string(t) + " of the result changes when row " +
                 std::to_string(s) + " of x changes";
  }
  return "";
}

}  // namespace

int main() {
  Generator g(13);
  const Array x = g.randn({B, T, C});
  RandomBlock no_branches(1), no_attention(2), no_mlp(3), whole(4), other(5);
  expect("the result has the shape of x", shape_of(readers_result(whole.block, x)) == shape_of(x),
         "it has another shape");
  no_branches.set_to_zero(no_branches.block.attention.out);
  no_branches.set_to_zero(no_branches.block.mlp.down);
  expect("if the output of attention and MLP is 0, the result is x",
         readers_result(no_branches.block, x), x);
  no_attention.set_to_zero(no_attention.block.attention.out);
  expect("the MLP branch, if the output of attention is 0", readers_result(no_attention.block, x),
         add_mlp(no_attention.block, x), 1e-4);
  no_mlp.set_to_zero(no_mlp.block.mlp.down);
  const std::string found = leak(no_mlp.block, x);
  expect("no row depends on a later row", found.empty(), found);
  nn::AttentionMask mask;
  mask.causal = true;
  for (const RandomBlock* random : {&no_mlp, &whole, &other})
    expect(random == &no_mlp ? "the attention branch, if the output of the MLP is 0"
                             : "the whole block",
           readers_result(random->block, x), random->block(Tensor(x), mask).value(), 1e-4);
  return verdict();
}
