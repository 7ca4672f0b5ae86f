// padding_test.cpp: key padding, with_weights of MultiHeadAttention, and the decoder block.

#include <cmath>

#include "catch.hpp"
#include "heed/nn/encoder_decoder.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using nn::AttentionMask;

struct PaddedStore {
  Scope scope() { return Scope(parameters, generator); }
  Parameters parameters;
  Generator generator{3};
};

// Keys 0 to lengths[b] - 1 of row b are tokens; the others are padding.
Mask padding(const std::vector<std::size_t>& lengths, std::size_t S) {
  Mask result = mask({lengths.size(), S});
  for (std::size_t b = 0; b < lengths.size(); ++b)
    for (std::size_t s = lengths[b]; s < S; ++s) result(b, s) = true;
  return result;
}

// Key padding as an explicit mask (B, H, T, S), true where the query may attend to the key.
Mask explicit_mask(const Mask& padded, std::size_t heads, std::size_t T) {
  const std::size_t B = padded.shape()[0], S = padded.shape()[1];
  Mask result = mask({B, heads, T, S});
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t h = 0; h < heads; ++h)
      for (std::size_t t = 0; t < T; ++t)
        for (std::size_t s = 0; s < S; ++s) result(b, h, t, s) = !padded(b, s);
  return result;
}

Tensor row(const Tensor& x, std::size_t b, std::size_t keys) {
  const auto at = static_cast<std::int64_t>(b);
  return slice(slice(x, 0, at, at + 1), 1, 0, static_cast<std::int64_t>(keys));
}

nn::TrainingMode training(double p, Generator& generator) { return {p, &generator}; }

}  // namespace

TEST_CASE("key_padding equals an explicit mask, for one head and for several", "[nn][padding]") {
  for (const std::size_t heads : {std::size_t{1}, std::size_t{2}}) {
    PaddedStore store;
    const nn::MultiHeadAttention layer(store.scope(), 4, heads);
    const Tensor x(random_array({2, 3, 4}, 1)), memory(random_array({2, 5, 4}, 2));
    const Mask padded = padding({3, 4}, 5);
    const AttentionMask by_padding{false, {}, padded},
        by_mask{false, explicit_mask(padded, heads, 3), {}};
    CHECK(difference(layer(x, memory, by_padding), layer(x, memory, by_mask).value()) == "");
    CHECK(difference(layer.weights(x, memory, by_padding),
                     layer.weights(x, memory, by_mask).value(), 0) == "");
  }
}

TEST_CASE("attention with padded keys equals attention without these keys", "[nn][padding]") {
  for (const std::size_t heads : {std::size_t{1}, std::size_t{2}}) {
    PaddedStore store;
    const nn::MultiHeadAttention layer(store.scope(), 4, heads);
    const Tensor x(random_array({2, 3, 4}, 1)), memory(random_array({2, 5, 4}, 2));
    const std::vector<std::size_t> lengths{2, 5};
    const Tensor y = layer(x, memory, {false, {}, padding(lengths, 5)});
    for (std::size_t b = 0; b < 2; ++b)
      CHECK(difference(row(y, b, 3), layer(row(x, b, 3), row(memory, b, lengths[b])).value()) ==
            "");
  }
}

TEST_CASE("no gradient reaches a padded key, and its value changes nothing", "[nn][padding]") {
  PaddedStore store;
  const nn::MultiHeadAttention layer(store.scope(), 4, 2);
  const Tensor x(random_array({1, 2, 4}, 1)), memory(random_array({1, 3, 4}, 2), true);
  const AttentionMask mask{false, {}, padding({2}, 3)};
  const Tensor y = layer(x, memory, mask);
  backward(y, random_array(y.shape(), 3));
  for (std::size_t c = 0; c < 4; ++c) CHECK(memory.grad()(0, 2, c) == 0);
  Array other = memory.value();
  for (std::size_t c = 0; c < 4; ++c) other(0, 2, c) = 100;
  CHECK(same_bits(layer(x, Tensor(other), mask).value(), y.value()));
}

TEST_CASE("a row whose keys are all padding has weights and an attention of 0", "[nn][padding]") {
  PaddedStore store;
  const nn::MultiHeadAttention layer(store.scope(), 4, 2);
  const Tensor x(random_array({2, 3, 4}, 1));
  const AttentionMask mask{false, {}, padding({0, 3}, 3)};
  const AttentionResult result = layer.with_weights(x, x, mask);
  CHECK(difference(slice(result.weights, 0, 0, 1), zeros({1, 2, 3, 3})) == "");
  const Tensor y = layer(x, mask);
  for (std::size_t t = 0; t < 3; ++t)
    CHECK(difference(select(select(y, 0, 0), 0, static_cast<std::int64_t>(t)),
                     layer.out.bias.value()) == "");
}

TEST_CASE("key_padding combines with a causal mask and with a mask of 2, 3 or 4 axes",
          "[nn][padding]") {
  PaddedStore store;
  const nn::MultiHeadAttention layer(store.scope(), 4, 4);
  const Tensor x(random_array({2, 3, 4}, 1));
  const Mask padded = padding({3, 2}, 3), visible = explicit_mask(padded, 4, 3);
  Mask causal = visible;
  for (std::size_t i = 0; i < causal.size(); ++i)
    if (i % 3 > i / 3 % 3) causal.data()[i] = false;
  const Array expected = layer(x, {false, causal, {}}).value();
  CHECK(difference(layer(x, {true, {}, padded}), expected) == "");
  Mask lower = mask({3, 3}, true);
  for (std::size_t t = 0; t < 3; ++t)
    for (std::size_t s = t + 1; s < 3; ++s) lower(t, s) = false;
  CHECK(difference(layer(x, {false, lower, padded}), expected, 0) == "");
  Mask per_batch = mask({2, 3, 3}), per_head = mask({2, 4, 3, 3});
  for (std::size_t i = 0; i < per_batch.size(); ++i) per_batch.data()[i] = lower.data()[i % 9];
  for (std::size_t i = 0; i < per_head.size(); ++i) per_head.data()[i] = lower.data()[i % 9];
  CHECK(difference(layer(x, {false, per_batch, padded}), expected, 0) == "");
  CHECK(difference(layer(x, {false, per_head, padded}), expected, 0) == "");
}

TEST_CASE("a head takes key_padding too", "[nn][padding]") {
  PaddedStore store;
  const nn::AttentionHead head(store.scope(), 4, 3);
  const Tensor x(random_array({2, 3, 4}, 1));
  const Mask padded = padding({1, 3}, 3);
  const Tensor weights = head.weights(x, {true, {}, padded});
  for (std::size_t t = 0; t < 3; ++t) CHECK(weights.value()(0, t, 0) == 1);
  const Tensor y = head(x, {false, {}, padded});
  CHECK(difference(row(y, 1, 3), head(row(x, 1, 3)).value()) == "");
}

TEST_CASE("a key_padding or mask of another shape is rejected", "[nn][padding]") {
  PaddedStore store;
  const nn::MultiHeadAttention layer(store.scope(), 4, 2);
  const Tensor x = Tensor(ones({2, 3, 4})).set_name("x");
  for (const Shape& shape : {Shape{2, 4}, Shape{3, 3}, Shape{3}, Shape{2, 1, 3}})
    CHECK(message_of([&] {
            layer(x, {false, {}, mask(shape)});
          }) == "attention: key_padding " + str(shape) + " must be (B, S) of key (2, 3, 4)");
  CHECK(message_of([&] {
          layer(Tensor(ones({3, 4})), {false, {}, mask({1, 3})});
        }) == "attention: query (3, 4) must be (B, T, C) with C divisible by num_heads = 2");
  const std::string message = message_of([&] { layer(x, {false, mask({2, 2}), mask({2, 3})}); });
  CHECK(message == "attention: mask (2, 2) does not broadcast to the scores (2, 2, 3, 3)");
}

TEST_CASE("with_weights gives the results of operator() and of weights()", "[nn][padding]") {
  for (const std::size_t heads : {std::size_t{1}, std::size_t{2}}) {
    PaddedStore store;
    const nn::MultiHeadAttention layer(store.scope(), 4, heads);
    const Tensor x(random_array({2, 3, 4}, 1)), memory(random_array({2, 5, 4}, 2));
    for (const AttentionMask& mask : {AttentionMask{}, AttentionMask{true, {}, {}},
                                      AttentionMask{false, {}, padding({1, 4}, 5)}}) {
      const AttentionResult result = layer.with_weights(x, memory, mask);
      CHECK(difference(result.output, layer(x, memory, mask).value()) == "");
      CHECK(difference(result.weights, layer.weights(x, memory, mask).value(), 0) == "");
      CHECK(result.weights.shape() == Shape({2, heads, 3, 5}));
    }
  }
}

TEST_CASE("in training, with_weights gives the weights after dropout", "[nn][padding]") {
  PaddedStore store;
  const nn::MultiHeadAttention layer(store.scope(), 4, 2);
  const Tensor x(random_array({2, 3, 4}, 1));
  Generator one(9), two(9);
  const nn::TrainingMode first = training(0.5, one), second = training(0.5, two);
  const AttentionResult result = layer.with_weights(x, x, {}, &first);
  CHECK(same_bits(result.output.value(), layer(x, {}, &second).value()));
  const Array whole = layer.weights(x, x).value();
  std::size_t dropped = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const Real weight = result.weights.value().data()[i];
    dropped += weight == 0;
    CHECK((weight == 0 || std::abs(weight - 2 * whole.data()[i]) < 1e-6));
  }
  CHECK((dropped > 0 && dropped < whole.size()));
}

// ---- the decoder block

TEST_CASE("a decoder block adds self-attention, cross-attention and the MLP, each after a norm",
          "[nn][decoder]") {
  PaddedStore store;
  const nn::DecoderBlock block(store.scope(), 4, 2);
  const Tensor x(random_array({2, 3, 4}, 1)), memory(random_array({2, 5, 4}, 2));
  const AttentionMask causal{true, {}, {}}, padded{false, {}, padding({2, 5}, 5)};
  const Tensor attended = x + block.attention(block.norm1(x), causal);
  const Tensor crossed = attended + block.cross(block.norm2(attended), memory, padded);
  const Tensor expected = crossed + block.mlp(block.norm3(crossed));
  CHECK(same_bits(block(x, memory, causal, padded).value(), expected.value()));
}

TEST_CASE("the parameters of a decoder block have names in this order", "[nn][decoder]") {
  PaddedStore store, without_bias;
  const nn::DecoderBlock block(store.scope() / "0", 4, 2);
  std::vector<std::string> names;
  for (const Tensor& p : store.parameters) names.push_back(p.name());
  CHECK(names.size() == 26);
  CHECK(names.front() == "0.norm1.weight");
  CHECK(names.back() == "0.mlp.down.bias");
  CHECK(store.parameters.at("0.cross.query.weight").shape() == Shape({4, 4}));
  CHECK(store.parameters.at("0.mlp.up.weight").shape() == Shape({16, 4}));
  const nn::DecoderBlock plain(without_bias.scope(), 4, 2, false);
  CHECK(without_bias.parameters.size() == 13);
}

TEST_CASE("with a causal mask no output of a decoder block depends on later positions of x",
          "[nn][decoder]") {
  PaddedStore store;
  const nn::DecoderBlock block(store.scope(), 4, 2);
  const Tensor memory(random_array({1, 3, 4}, 2));
  const Array x = random_array({1, 4, 4}, 1);
  const Tensor y = block(Tensor(x), memory, {true, {}, {}});
  for (std::size_t last = 1; last < 4; ++last) {
    Array changed = x;
    changed(0, last, 0) += 1;  // of one element only: layer norm removes an equal change of all
    const Tensor z = block(Tensor(changed), memory, {true, {}, {}});
    const auto earlier = static_cast<std::int64_t>(last);
    CHECK(same_bits(slice(y, 1, 0, earlier).value(), slice(z, 1, 0, earlier).value()));
    CHECK_FALSE(same_bits(slice(y, 1, earlier).value(), slice(z, 1, earlier).value()));
  }
}

TEST_CASE("every output of a decoder block depends on every memory position that is not padding",
          "[nn][decoder]") {
  PaddedStore store;
  const nn::DecoderBlock block(store.scope(), 4, 2);
  const Tensor x(random_array({1, 2, 4}, 1));
  const Array memory = random_array({1, 3, 4}, 2);
  const AttentionMask causal{true, {}, {}}, padded{false, {}, padding({2}, 3)};
  const Tensor y = block(x, Tensor(memory), causal, padded);
  for (std::size_t s = 0; s < 3; ++s) {
    Array changed = memory;
    for (std::size_t c = 0; c < 4; ++c) changed(0, s, c) += 1;
    const Tensor z = block(x, Tensor(changed), causal, padded);
    for (std::int64_t t = 0; t < 2; ++t)
      CHECK(same_bits(select(y, 1, t).value(), select(z, 1, t).value()) == (s == 2));
  }
}

TEST_CASE("a decoder block drops values only in training", "[nn][decoder]") {
  PaddedStore store;
  const nn::DecoderBlock block(store.scope(), 4, 2);
  const Tensor x(random_array({1, 2, 4}, 1)), memory(random_array({1, 3, 4}, 2));
  Generator random(5);
  const nn::TrainingMode none = training(0, random), all = training(1, random);
  const Tensor y = block(x, memory, {});
  CHECK(same_bits(block(x, memory, {}, {}, &none).value(), y.value()));
  CHECK(same_bits(block(x, memory, {}, {}, &all).value(), x.value()));  // residuals only
  Generator one(5), two(5), three(6);
  const nn::TrainingMode half = training(0.5, one), again = training(0.5, two),
                         other = training(0.5, three);
  const Array dropped = block(x, memory, {}, {}, &half).value();
  CHECK(same_bits(dropped, block(x, memory, {}, {}, &again).value()));
  CHECK_FALSE(same_bits(dropped, block(x, memory, {}, {}, &other).value()));
}
