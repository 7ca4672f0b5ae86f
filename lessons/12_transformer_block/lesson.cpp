// 12 transformer_block: residual connection, MLP and layer normalization around attention.
//
// Worth a breakpoint: transformer_block. Continue with `next`.

#include <cmath>
#include <functional>

#include "pictures.hpp"

using namespace heed;

const Names words = {"the", "cat", "sat"};
constexpr std::size_t T = 8, C = 16, depth = 6;
const nn::AttentionMask causal = {/*causal=*/true};

// A layer made of the parts of a block: x (1, T, C) -> (1, T, C).
using Layer = std::function<Tensor(const nn::Block& parts, const Tensor& x)>;

Tensor attention_alone(const nn::Block& parts, const Tensor& x) { return parts.attention(x); }

Tensor causal_attention(const nn::Block& parts, const Tensor& x) {
  return parts.attention(x, causal);
}

Tensor with_residual(const nn::Block& parts, const Tensor& x) { return x + parts.attention(x); }

Tensor with_mlp(const nn::Block& parts, const Tensor& x) {
  const Tensor y = x + parts.attention(x);
  return y + parts.mlp(y);
}

Tensor transformer_block(const nn::Block& parts, const Tensor& x) {
  const Tensor y = x + parts.attention(parts.norm1(x));
  return y + parts.mlp(parts.norm2(y));
}

// `depth` blocks with random weights of standard deviation 1 / sqrt(C), with one head each.
std::vector<nn::Block> random_blocks(Generator& g) {
  Parameters parameters;
  Scope scope(parameters, g);
  scope.init.std = scope.init.residual_std = 1 / std::sqrt(double(C));
  std::vector<nn::Block> blocks;
  for (std::size_t l = 0; l < depth; ++l) blocks.emplace_back(scope / l, C, 1);
  return blocks;
}

// Random rows after 0, 1, ... layers: arrays (T, C).
std::vector<Array> after_each_layer(const Layer& layer, std::uint64_t seed) {
  Generator g(seed);
  Tensor x(g.randn({1, T, C}));
  std::vector<Array> arrays = {select(x, 0, 0).value()};
  for (const nn::Block& parts : random_blocks(g)) {
    x = layer(parts, x);
    arrays.push_back(select(x, 0, 0).value());
  }
  return arrays;
}

// A measure of x after 0, 1, ... layers: the mean over five seeds.
Array mean_over_seeds(double (*measure)(const Array& x), const Layer& layer) {
  Array means = zeros({depth + 1});
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const std::vector<Array> arrays = after_each_layer(layer, seed);
    for (std::size_t l = 0; l <= depth; ++l) means(l) += Real(measure(arrays[l]) / 5);
  }
  return means;
}

// The difference of the largest and the smallest element of each column of x.
Array spreads(const Array& x) { return xt::amax(x, {0}) - xt::amin(x, {0}); }

// Whether, in six layers, the spread of A V is at most 1 - c times that of V, where c is the sum of
// the smallest weight of each column of A.
bool means_are_closer(const nn::AttentionMask& mask) {
  Generator g(1);
  Tensor x(g.randn({1, T, C}));
  bool closer = true;
  for (const nn::Block& parts : random_blocks(g)) {
    const Tensor A = select(select(parts.attention.weights(x, x, mask), 0, 0), 0, 0),  // (T, T)
        V = select(parts.attention.value(x), 0, 0);                                    // (T, C)
    const Real c = xt::sum(xt::amin(A.value(), {0}))();
    closer =
        closer && xt::all(spreads(matmul(A, V).value()) <= (1 - c) * spreads(V.value()) + 1e-5);
    x = parts.attention(x, mask);
  }
  return closer;
}

void rank_collapse() {
  section("Attention alone");
  const Array cosines = mean_over_seeds(mean_cosine, attention_alone);
  show_rows("mean cosine of two rows after 0 to 6 layers",
            {cosines, mean_over_seeds(mean_cosine, causal_attention)}, {"attention", "causal"});
  guard("after six layers of attention the cosine is above 0.999", cosines(depth) > 0.999,
        decimal(cosines(depth), 4));
  say();
  picture_of_rows("rank_collapse", after_each_layer(attention_alone, 1));
  say();
  claim("in each layer the spread of A V is at most 1 - c times that of V",
        means_are_closer({}) && means_are_closer(causal), "it is not");
  say();
}

void residual_connection() {
  section("Residual connections");
  show_rows("mean cosine of two rows after 0 to 6 layers",
            {mean_over_seeds(mean_cosine, with_residual)}, {"x + attention"});
  say();
  picture_of_rows("residual", after_each_layer(with_residual, 1));
  say();
}

// x W^T + b.
Array linear_by_hand(const nn::Linear& layer, const Array& x) {
  return xt::linalg::dot(x, xt::transpose(layer.weight.value())) + layer.bias.value();
}

Array mlp_by_hand(const nn::Mlp& mlp, const Array& x) {
  Array hidden = linear_by_hand(mlp.up, x);                                     // (T, 4C)
  for (Real& z : hidden) z = Real(z * (1 + std::erf(z / std::sqrt(2.0))) / 2);  // GELU
  return linear_by_hand(mlp.down, hidden);                                      // (T, C)
}

void the_mlp(const nn::Block& block, const Array& X) {
  section("The MLP");
  check("MLP by hand = nn::Mlp", mlp_by_hand(block.mlp, X), block.mlp(Tensor(X)));
  const Tensor weight = matmul(block.mlp.down.weight, block.mlp.up.weight),  // (C, C)
      bias = block.mlp.down(block.mlp.up.bias);                              // (C)
  check("both linear layers without GELU = one linear layer",
        block.mlp.down(block.mlp.up(Tensor(X))), linear(Tensor(X), weight, bias));
  say();
}

// (x - mean) / sqrt(variance + 1e-5) for each row. The 1e-5 prevents a division by zero.
Array norm_by_hand(const Array& x) {
  Array y = x;
  const double width = double(x.shape(1));
  for (std::size_t t = 0; t < x.shape(0); ++t) {
    double mean = 0, variance = 0;
    for (std::size_t c = 0; c < x.shape(1); ++c) mean += x(t, c) / width;
    for (std::size_t c = 0; c < x.shape(1); ++c) variance += std::pow(x(t, c) - mean, 2) / width;
    for (std::size_t c = 0; c < x.shape(1); ++c)
      y(t, c) = Real((x(t, c) - mean) / std::sqrt(variance + 1e-5));
  }
  return y;
}

void layer_normalization(const nn::Block& block, const Array& X) {
  section("Layer normalization");
  const Array growth = mean_over_seeds(rms, with_mlp);
  show_rows("root mean square of x after 0 to 6 layers",
            {mean_over_seeds(rms, with_residual), growth}, {"x + attention", "... and MLP"});
  say({{"growth", decimal(std::pow(growth(depth) / growth(0), 1.0 / depth), 1)}});
  Array large = X;
  xt::row(large, 1) *= 4;  // 'cat'
  show("X with the row of 'cat' times 4", large, words);
  show("norm1(X)", block.norm1(Tensor(large)), words);
  check("norm by hand = nn::LayerNorm", norm_by_hand(large), block.norm1(Tensor(large)));
  check("with the factor 4 = without it", norm_by_hand(large), norm_by_hand(X), 1e-3);
}

void the_block(const nn::Block& block, const Array& X) {
  section("The whole block");
  picture("12_transformer_block", "block", block_graph);
  const Tensor x = unsqueeze(Tensor(X), 0);  // (1, 3, 5)
  check("transformer_block = nn::Block", transformer_block(block, x), block(x));
  say();
  std::vector<Array> cosines;
  for (const Layer layer : {attention_alone, with_residual, with_mlp, transformer_block})
    cosines.push_back(mean_over_seeds(mean_cosine, layer));
  show_rows("mean cosine of two rows after 0 to 6 layers", cosines,
            {"attention", "x + attention", "... and MLP", "block"});
  show_rows("root mean square of x after 0 to 6 layers",
            {mean_over_seeds(rms, with_mlp), mean_over_seeds(rms, transformer_block)},
            {"... and MLP", "block"});
  claim("after six blocks the cosine is below 0.6", cosines[3](depth) < 0.6,
        decimal(cosines[3](depth), 4));
  say();
}

int main() {
  opening();
  Generator g(42);
  const Array X = g.randn({3, 5});
  Parameters parameters;
  const nn::Block block(Scope(parameters, g), 5, 1);
  rank_collapse();
  residual_connection();
  the_mlp(block, X);
  layer_normalization(block, X);
  the_block(block, X);
  ending();
}
