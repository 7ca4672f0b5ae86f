// properties_test.cpp: causality and permutation equivariance of layers and models.

#include <algorithm>

#include "catch.hpp"
#include "heed/nn/gpt.hpp"
#include "heed/ops/shape.hpp"
#include "small_model.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using X = const std::vector<Tensor>&;

constexpr std::size_t lengths[] = {5, 33, 70};  // attention processes blocks of 32 rows

struct Store {
  Scope scope() { return Scope(parameters, generator); }
  Parameters parameters;
  Generator generator{42};
};

nn::AttentionMask causal() {
  nn::AttentionMask mask;
  mask.causal = true;
  return mask;
}

nn::GptConfig two_blocks(std::size_t block_size) {
  nn::GptConfig config = small_config(11, {block_size, 8});
  config.bias = true;
  return config;
}

// Multiples of 1/8 from -max / 8 to max / 8: sums of their products are exact in any order.
Array eighths(const Shape& shape, std::uint64_t seed, std::int64_t max) {
  const Indices numerators = Generator(seed).randint(-max, max + 1, {numel(shape)});
  Array x = uninitialized(shape);
  std::transform(numerators.begin(), numerators.end(), x.data(),
                 [](std::int64_t n) { return static_cast<Real>(n) / 8; });
  return x;
}

// Queries, keys and values are exact. The output of attention is rounded, and in a product BLAS may
// round equal rows differently. A diagonal output projection avoids that, because it sums nothing.
nn::MultiHeadAttention exact_heads(Store& store, std::size_t heads) {
  nn::MultiHeadAttention layer(store.scope(), 8, heads);
  for (Tensor p : store.parameters) p.mutable_value() = eighths(p.shape(), heads + p.dim(), 4);
  Array& diagonal = layer.out.weight.mutable_value();
  for (std::size_t i = 0; i < 8; ++i)
    for (std::size_t j = 0; j < 8; ++j)
      diagonal(i, j) = i == j ? static_cast<Real>(i + 1) / 8 : Real{0};
  return layer;
}

// ---- rows of a sequence (B, T, C)

Array rows(const Array& x, std::size_t begin, std::size_t end) {
  const auto from = static_cast<std::int64_t>(begin), to = static_cast<std::int64_t>(end);
  return slice(Tensor(x), 1, from, to).value();
}

// Row t is x's row order[t].
Array reordered(const Array& x, const Indices& order) {
  std::vector<Tensor> moved;
  for (const std::int64_t t : order) moved.push_back(select(Tensor(x), 1, t));
  return stack(moved, 1).value();
}

bool all_zero(const Array& x) {
  return std::all_of(x.begin(), x.end(), [](Real v) { return v == 0; });
}

// An upstream gradient that is zero except in row t.
Array upstream_of_row(std::size_t t, const Shape& shape) {
  Array upstream = zeros(shape);
  const Array row = away_from_zero({shape[2]}, 4);
  std::copy_n(row.data(), row.size(), upstream.data() + t * shape[2]);
  return upstream;
}

// Rows to test: the first and last, and both sides of a block boundary in attention.
std::vector<std::size_t> tested_rows(std::size_t T) {
  std::vector<std::size_t> result;
  for (const std::size_t t : {0u, 4u, 31u, 32u, 69u})
    if (t < T) result.push_back(t);
  return result;
}

}  // namespace

TEST_CASE("no row of a causal block depends on later rows", "[nn][properties]") {
  for (const std::size_t T : lengths) {
    CAPTURE(T);
    Store store;
    const nn::Block block(store.scope(), 8, 2);
    const Array x = random_array({1, T, 8}, 1), other = random_array({1, T, 8}, 2, -50, 50);
    const Array before = block(Tensor(x), causal()).value();
    for (const std::size_t t : tested_rows(T)) {
      const Array changed = concat({Tensor(rows(x, 0, t)), Tensor(rows(other, t, T))}, 1).value();
      const Array after = block(Tensor(changed), causal()).value();
      CHECK(same_bits(rows(after, 0, t), rows(before, 0, t)));
      CHECK_FALSE(same_bits(rows(after, t, t + 1), rows(before, t, t + 1)));
    }
  }
}

TEST_CASE("no gradient of a causal block reaches a later row", "[nn][properties]") {
  for (const std::size_t T : lengths) {
    CAPTURE(T);
    Store store;
    const nn::Block block(store.scope(), 8, 2);
    const Function f = [&](X x) { return block(x[0], causal()); };
    const Array x = random_array({1, T, 8}, 1);
    for (const std::size_t t : tested_rows(T)) {
      const Array dx = gradients(f, {x}, upstream_of_row(t, x.shape()))[0];
      CHECK(all_zero(rows(dx, t + 1, T)));
      for (std::size_t s = 0; s <= t; ++s) CHECK_FALSE(all_zero(rows(dx, s, s + 1)));
    }
  }
}

TEST_CASE("no logit of a model depends on a later token", "[nn][properties]") {
  for (const std::size_t T : lengths) {
    CAPTURE(T);
    Store store;
    const nn::Gpt gpt(store.scope(), two_blocks(T));
    const Indices tokens = Generator(1).randint(0, 11, {2, T});
    const Array before = gpt(tokens).value();
    for (const std::size_t t : tested_rows(T)) {
      Indices changed = tokens;
      for (std::size_t s = t; s < T; ++s) changed(1, s) = (tokens(1, s) + 5) % 11;
      const Array after = gpt(changed).value();
      CHECK(same_bits(rows(after, 0, t), rows(before, 0, t)));
      CHECK_FALSE(same_bits(rows(after, t, t + 1), rows(before, t, t + 1)));
    }
  }
}

TEST_CASE("no gradient of a model's logits reaches a later position", "[nn][properties]") {
  for (const std::size_t T : lengths) {
    CAPTURE(T);
    Store store;
    const nn::Gpt gpt(store.scope(), two_blocks(T));
    const Indices tokens = Generator(1).randint(0, 11, {1, T});
    Tensor position = gpt.position->weight;
    for (const std::size_t t : tested_rows(T)) {
      position.clear_grad();
      backward(gpt(tokens), upstream_of_row(t, {1, T, 11}));
      const Array gradient = unsqueeze(Tensor(position.grad()), 0).value();
      CHECK(all_zero(rows(gradient, t + 1, T)));
      for (std::size_t s = 0; s <= t; ++s) CHECK_FALSE(all_zero(rows(gradient, s, s + 1)));
    }
  }
}

TEST_CASE("multi-head attention without positions is permutation equivariant", "[nn][properties]") {
  for (const std::size_t T : lengths)
    for (const std::size_t heads : {1u, 2u, 4u}) {
      CAPTURE(T, heads);
      Store store;
      const nn::MultiHeadAttention layer = exact_heads(store, heads);
      const Array x = eighths({2, T, 8}, 1, 8), few = eighths({2, 9, 8}, 2, 8);
      const Array own = layer(Tensor(x)).value(), across = layer(Tensor(few), Tensor(x)).value();
      int changed = 0, changed_across = 0;
      for (int i = 0; i < 20; ++i) {
        const Indices order = store.generator.randperm(T);
        const Tensor moved(reordered(x, order));
        changed += !same_bits(layer(moved).value(), reordered(own, order));
        changed_across += !same_bits(layer(Tensor(few), moved).value(), across);
      }
      CHECK(changed == 0);
      CHECK(changed_across == 0);
    }
}
