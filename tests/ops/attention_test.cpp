// attention_test.cpp: fused attention against matrix products and softmax; masks, heads, past keys.

#include "heed/ops/attention.hpp"

#include <cmath>

#include "array/reduce.hpp"
#include "catch.hpp"
#include "heed/array/array.hpp"
#include "heed/array/parallel.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/shape.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using X = const std::vector<Tensor>&;

AttentionOptions options_of(bool causal, std::size_t num_heads = 1) {
  AttentionOptions options;
  options.causal = causal;
  options.num_heads = num_heads;
  return options;
}

AttentionOptions with_past(std::size_t past, std::size_t num_heads = 1) {
  AttentionOptions options = options_of(true, num_heads);
  options.past = past;
  return options;
}

Function fused(const AttentionOptions& options) {
  return [=](X x) { return scaled_dot_product_attention(x[0], x[1], x[2], options); };
}

// Attention as the product of attention weights and values.
Function plain(const AttentionOptions& options) {
  return [=](X x) {
    const Tensor weights = attention_weights(x[0], x[1], options);
    if (options.num_heads == 1) return matmul(weights, x[2]);
    return join_heads(matmul(weights, split_heads(x[2], options.num_heads)));
  };
}

std::vector<Array> inputs(const Shape& q, const Shape& k, const Shape& v) {
  return {random_array(q, 1, -2, 2), random_array(k, 2, -2, 2), random_array(v, 3)};
}

// The scores 0, ln 2 and ln 5 give the attention weights 1/8, 2/8, 5/8.
const Array query = array_of({1, 2}, {1, 0});
const Array keys = array_of({3, 2}, {0, 7, std::log(2.0), -3, std::log(5.0), 1});
const Array values = array_of({3, 2}, {8, 0, 0, 8, 16, 16});

}  // namespace

TEST_CASE("attention with the weights 1/8, 2/8 and 5/8 by hand", "[ops][attention]") {
  AttentionOptions unscaled;
  unscaled.scale = 1;
  const Tensor q(query), k(keys), v(values);
  CHECK(difference(attention_weights(q, k, unscaled), array_of({1, 3}, {0.125, 0.25, 0.625})) ==
        "");
  CHECK(difference(scaled_dot_product_attention(q, k, v, unscaled), array_of({1, 2}, {11, 12})) ==
        "");
}

TEST_CASE("the default scale is 1 / sqrt(D)", "[ops][attention]") {
  AttentionOptions given;
  given.scale = 1 / std::sqrt(2.0);
  const auto x = inputs({2, 4, 2}, {2, 5, 2}, {2, 5, 3});
  CHECK(twin_difference(fused({}), fused(given), x, 0) == "");
}

TEST_CASE("the gradients of attention by hand", "[ops][attention]") {
  AttentionOptions unscaled;
  unscaled.scale = 1;
  const auto g = gradients(fused(unscaled), {query, keys, values}, array_of({1, 2}, {8, 0}));
  // dA = (64, 0, 128), its mean 88, so dS = (-3, -22, 25)
  CHECK(difference(g[0], array_of({1, 2},
                                  {25 * std::log(5.0) - 22 * std::log(2.0), -21 + 66 + 25})) == "");
  CHECK(difference(g[1], array_of({3, 2}, {-3, 0, -22, 0, 25, 0})) == "");
  CHECK(difference(g[2], array_of({3, 2}, {1, 0, 2, 0, 5, 0})) == "");
}

TEST_CASE("fused attention equals matrix products and softmax", "[ops][attention]") {
  for (const bool causal : {false, true}) {
    const AttentionOptions options = options_of(causal);
    CHECK(twin_difference(fused(options), plain(options), inputs({4, 3}, {4, 3}, {4, 5})) == "");
    CHECK(twin_difference(fused(options), plain(options),
                          inputs({2, 3, 9, 4}, {2, 3, 9, 4}, {2, 3, 9, 2})) == "");
    CHECK(twin_difference(fused(options), plain(options), inputs({1, 1}, {1, 1}, {1, 1})) == "");
  }
}

TEST_CASE("fused attention equals plain attention for several blocks of rows", "[ops][attention]") {
  for (const bool causal : {false, true})
    for (const std::size_t T : {31u, 32u, 33u, 64u, 100u}) {
      const AttentionOptions options = options_of(causal);
      CHECK(twin_difference(fused(options), plain(options), inputs({2, T, 6}, {2, T, 6}, {2, T, 7}),
                            5e-6) == "");
    }
}

TEST_CASE("fused attention equals plain attention for all numbers of keys", "[ops][attention]") {
  for (const bool causal : {false, true})
    for (const std::size_t T : {1u, 5u, 40u})
      for (const std::size_t S : {1u, 7u, 70u}) {
        const AttentionOptions options = options_of(causal);
        CHECK(twin_difference(fused(options), plain(options),
                              inputs({3, T, 4}, {3, S, 4}, {3, S, 2}), 5e-6) == "");
      }
}

TEST_CASE("attention with num_heads equals attention with_past split_heads", "[ops][attention]") {
  for (const bool causal : {false, true})
    for (const std::size_t heads : {1u, 2u, 4u}) {
      const AttentionOptions options = options_of(causal, heads);
      CHECK(twin_difference(fused(options), plain(options),
                            inputs({2, 37, 8}, {2, 41, 8}, {2, 41, 12}), 5e-6) == "");
      const AttentionOptions one_head = options_of(causal);
      const Function by_hand = [=](X x) {
        return join_heads(scaled_dot_product_attention(split_heads(x[0], heads),
                                                       split_heads(x[1], heads),
                                                       split_heads(x[2], heads), one_head));
      };
      CHECK(twin_difference(fused(options), by_hand, inputs({2, 37, 8}, {2, 41, 8}, {2, 41, 12}),
                            0) == "");
    }
}

TEST_CASE("with past, a query attends to all past keys and to new keys up to its own position",
          "[ops][attention]") {
  const auto x = inputs({2, 1, 4}, {2, 5, 4}, {2, 5, 4});
  for (const std::size_t past : {1u, 2u, 4u}) {
    const Array w = attention_weights(Tensor(x[0]), Tensor(x[1]), with_past(past, 2)).value();
    for (std::size_t s = 0; s < 5; ++s) CHECK((w(1, 1, 0, s) != 0) == (s <= past));
  }
  for (const std::size_t T : {1u, 3u, 33u, 70u})
    for (const std::size_t past : {1u, 2u, 31u, 40u})
      for (const std::size_t later : {0u, 1u, 7u}) {
        const std::size_t S = past + T + later;
        CHECK(twin_difference(fused(with_past(past, 2)), plain(with_past(past, 2)),
                              inputs({2, T, 4}, {2, S, 4}, {2, S, 6}), 5e-6) == "");
      }
}

TEST_CASE("the last queries with past equal the last rows of full attention", "[ops][attention]") {
  const auto x = inputs({1, 40, 4}, {1, 40, 4}, {1, 40, 4});
  const Tensor full = fused(options_of(true, 2))({Tensor(x[0]), Tensor(x[1]), Tensor(x[2])});
  for (const int past : {1, 7, 39}) {
    const Tensor last = slice(Tensor(x[0]), 1, past, 40);
    CHECK(difference(fused(with_past(static_cast<std::size_t>(past), 2))(
                         {last, Tensor(x[1]), Tensor(x[2])}),
                     slice(full, 1, past, 40).value()) == "");
  }
}

TEST_CASE("keys that no query attends to get no gradient", "[ops][attention]") {
  const auto g =
      gradients(fused(with_past(2)), inputs({2, 4}, {7, 4}, {7, 3}), random_array({2, 3}, 4));
  for (const std::size_t i : {1u, 2u}) {
    const Tensor visible = slice(Tensor(g[i]), 0, 3, 4), later = slice(Tensor(g[i]), 0, 4, 7);
    CHECK_FALSE((visible.value() == zeros(visible.shape())));
    CHECK((later.value() == zeros(later.shape())));
  }
}

TEST_CASE("past without causal, or with too few keys, throws", "[ops][attention]") {
  const auto error_of = [](const AttentionOptions& options, std::size_t T, std::size_t S) {
    const Tensor q(zeros({T, 4})), k(zeros({S, 4}));
    const std::string text = message_of([&] { scaled_dot_product_attention(q, k, k, options); });
    CHECK(message_of([&] { attention_weights(q, k, options); }) == text);
    return text;
  };
  AttentionOptions not_causal = with_past(2);
  not_causal.causal = false;
  CHECK(error_of(not_causal, 1, 5) ==
        "attention: past = 2 needs causal attention; set causal, or set past to 0");
  const std::string few = "attention: there must be at least past + T keys: past = ";
  CHECK(error_of(with_past(4), 2, 5) == few + "4, q (2, 4), k (5, 4)");
  CHECK(error_of(with_past(6), 0, 5) == few + "6, q (0, 4), k (5, 4)");
  CHECK(error_of(with_past(static_cast<std::size_t>(-1)), 2, 5) == few + "-1, q (2, 4), k (5, 4)");
  CHECK(error_of(with_past(4), 1, 5) == "");
}

TEST_CASE("causal attention equals attention with a causal mask", "[ops][attention]") {
  AttentionOptions masked;
  Mask visible = future_mask(35);
  for (bool& element : visible) element = !element;
  masked.mask = visible;
  CHECK(twin_difference(fused(options_of(true)), fused(masked),
                        inputs({2, 35, 4}, {2, 35, 4}, {2, 35, 3}), 5e-6) == "");
}

TEST_CASE("each row of the attention weights sums to 1; causal weights of later keys are 0",
          "[ops][attention]") {
  const auto x = inputs({2, 5, 4}, {2, 5, 4}, {2, 5, 4});
  const Tensor weights = attention_weights(Tensor(x[0]), Tensor(x[1]), options_of(true, 2));
  REQUIRE(str(weights.shape()) == "(2, 2, 5, 5)");
  const Array w = weights.value();
  for (std::size_t h = 0; h < 2; ++h)
    for (std::size_t t = 0; t < 5; ++t) {
      double total = 0;
      for (std::size_t s = 0; s < 5; ++s) {
        total += static_cast<double>(w(1, h, t, s));
        if (s > t) CHECK(w(1, h, t, s) == 0);
      }
      CHECK(close(total, 1, 1e-6));
    }
}

TEST_CASE("a fully masked query has zero weights and zero gradients", "[ops][attention]") {
  AttentionOptions options;
  options.mask = mask_of({2, 3}, {1, 0, 1, 0, 0, 0});
  const auto x = inputs({2, 4}, {3, 4}, {3, 2});
  const Tensor weights = attention_weights(Tensor(x[0]), Tensor(x[1]), options);
  CHECK((slice(weights, 0, 1).value() == zeros({1, 3})));
  CHECK(weights.value()(0, 1) == 0);
  const auto g = gradients(fused(options), x, ones({2, 2}));
  CHECK((slice(Tensor(g[0]), 0, 1).value() == zeros({1, 4})));
  CHECK((slice(Tensor(g[2]), 0, 1, 2).value() == zeros({1, 2})));
}

TEST_CASE("masks and biases broadcast over heads and batch", "[ops][attention]") {
  const auto x = inputs({2, 3, 4}, {2, 5, 4}, {2, 5, 4});
  AttentionOptions narrow = options_of(false, 2), wide = narrow;
  narrow.mask = mask_of({5}, {1, 1, 0, 1, 0});
  wide.mask = mask_of({2, 2, 3, 5}, std::vector<int>(60, 1));
  for (std::size_t row = 0; row < 12; ++row) wide.mask->data()[row * 5 + 2] = false;
  for (std::size_t row = 0; row < 12; ++row) wide.mask->data()[row * 5 + 4] = false;
  CHECK(twin_difference(fused(narrow), fused(wide), x, 0) == "");
  const Array bias = random_array({2, 1, 3, 5}, 7);
  const Function biased = [&](X in) {
    AttentionOptions options = options_of(false, 2);
    options.bias = in[3];
    return scaled_dot_product_attention(in[0], in[1], in[2], options);
  };
  const Function repeated = [&](X in) {
    AttentionOptions options = options_of(false, 2);
    options.bias = expand(in[3], {2, 2, 3, 5});
    return plain(options)(in);
  };
  CHECK(twin_difference(biased, repeated, {x[0], x[1], x[2], bias}) == "");
}

TEST_CASE("if heads are a separate axis, the mask may differ per head", "[ops][attention]") {
  const Tensor q(random_array({2, 2, 1, 3}, 1)), k(random_array({2, 2, 2, 3}, 2));
  AttentionOptions options;
  options.mask = mask_of({1, 2, 1, 2}, {1, 0, 0, 1});  // head 0 attends to key 0, head 1 to key 1
  const Array one_hot = array_of({2, 2, 1, 2}, {1, 0, 0, 1, 1, 0, 0, 1});
  CHECK(difference(attention_weights(q, k, options), one_hot) == "");
}

TEST_CASE("queries and keys of size 0 give uniform attention weights", "[ops][attention]") {
  const Tensor q(zeros({2, 0})), k(zeros({3, 0})), v(array_of({3, 1}, {1, 2, 6}));
  CHECK(difference(attention_weights(q, k),
                   array_of({2, 3}, {1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3})) == "");
  CHECK(difference(scaled_dot_product_attention(q, k, v), array_of({2, 1}, {3, 3})) == "");
}

TEST_CASE("attention without queries, keys or batch is empty or zero", "[ops][attention]") {
  const auto shape_for = [](const Shape& q, const Shape& k, const Shape& v) {
    return str(
        scaled_dot_product_attention(Tensor(zeros(q)), Tensor(zeros(k)), Tensor(zeros(v))).shape());
  };
  CHECK(shape_for({0, 4}, {3, 4}, {3, 2}) == "(0, 2)");
  CHECK(shape_for({0, 2, 4}, {0, 3, 4}, {0, 3, 2}) == "(0, 2, 2)");
  const auto without_keys = inputs({2, 4}, {0, 4}, {0, 2});
  CHECK((fused({})({Tensor(without_keys[0]), Tensor(without_keys[1]), Tensor(without_keys[2])})
             .value() == zeros({2, 2})));
  CHECK(twin_difference(fused({}), plain({}), without_keys) == "");
}

TEST_CASE("scores of a thousand do not overflow; a NaN affects only its row", "[ops][attention]") {
  const Tensor k(array_of({2, 1}, {1000, -1000})), v(array_of({2, 1}, {3, 4}));
  CHECK((scaled_dot_product_attention(Tensor(ones({1, 1})), k, v).value() == filled({1, 1}, 3)));
  const Tensor q(array_of({2, 1}, {not_a_number, 0}));
  CHECK(difference(scaled_dot_product_attention(q, k, v), array_of({2, 1}, {not_a_number, 3.5})) ==
        "");
}

TEST_CASE("join_heads is the inverse of split_heads", "[ops][attention]") {
  const Array x = random_array({2, 3, 8}, 1);
  const Tensor split = split_heads(Tensor(x), 4);
  REQUIRE(str(split.shape()) == "(2, 4, 3, 2)");
  CHECK(split.value()(1, 2, 0, 1) == x(1, 0, 5));
  CHECK((join_heads(split).value() == x));
  CHECK(message_of([&] { split_heads(Tensor(x), 3); }) ==
        "attention: x (2, 3, 8) must be (B, T, C) with C divisible by num_heads = 3");
  CHECK(message_of([&] { split_heads(Tensor(x), 0); }) ==
        "attention: x (2, 3, 8) must be (B, T, C) with C divisible by num_heads = 0");
  CHECK(message_of([&] { join_heads(Tensor(x)); }) ==
        "join_heads: x (2, 3, 8) must be (B, H, T, D)");
}

TEST_CASE("inputs that do not fit throw an error with all shapes", "[ops][attention]") {
  const auto error_of = [](const Shape& q, const Shape& k, const Shape& v, std::size_t heads = 1) {
    return message_of([&] {
      scaled_dot_product_attention(Tensor(zeros(q)), Tensor(zeros(k)), Tensor(zeros(v)),
                                   options_of(false, heads));
    });
  };
  CHECK(error_of({4}, {4}, {4}) ==
        "attention: q, k and v need the same number of axes, at least two: q (4), k (4), v (4)");
  CHECK(error_of({2, 4}, {1, 2, 4}, {2, 4}) ==
        "attention: q, k and v need the same number of axes, at least two: q (2, 4), k (1, 2, 4), "
        "v (2, 4)");
  CHECK(error_of({2, 3, 4}, {1, 3, 4}, {2, 3, 4}) ==
        "attention: batches differ: q (2, 3, 4), k (1, 3, 4), v (2, 3, 4)");
  CHECK(error_of({2, 4}, {2, 3}, {2, 4}) ==
        "attention: queries and keys differ in width: q (2, 4), k (2, 3), v (2, 4)");
  CHECK(error_of({2, 4}, {3, 4}, {2, 4}) ==
        "attention: there must be as many values as keys: q (2, 4), k (3, 4), v (2, 4)");
  CHECK(error_of({2, 3, 4}, {2, 3, 4}, {2, 3, 4}, 3) ==
        "attention: q (2, 3, 4) must be (B, T, C) with C divisible by num_heads = 3");
  CHECK(error_of({2, 3, 4}, {2, 3, 5}, {2, 3, 4}, 2) ==
        "attention: k (2, 3, 5) must be (B, T, C) with C divisible by num_heads = 2");
  CHECK(error_of({2, 3, 4}, {2, 3, 4}, {2, 3, 5}, 2) ==
        "attention: v (2, 3, 5) must be (B, T, C) with C divisible by num_heads = 2");
  CHECK(message_of([&] {
          attention_weights(Tensor(zeros({2, 4})), Tensor(zeros({2, 3})));
        }) == "attention: queries and keys differ in width: q (2, 4), k (2, 3)");
}

TEST_CASE("a query whose scores are all below the float range has zero output and gradient",
          "[ops][attention]") {
  // The first query's scores are -1e60, the second one's 0.5 and -0.25.
  const std::vector<Array> x = {array_of({2, 2}, {1e30, 0, 0, 1}),
                                array_of({2, 2}, {-1e30, 0.5, -1e30, -0.25}),
                                array_of({2, 2}, {1, 2, 3, 4})};
  for (const bool causal : {false, true}) {
    INFO("causal " << causal);
    const AttentionOptions options = options_of(causal);
    const Array y = fused(options)({Tensor(x[0]), Tensor(x[1]), Tensor(x[2])}).value();
    CHECK((slice(Tensor(y), 0, 0, 1).value() == zeros({1, 2})));
    CHECK(all_finite(y));
    const auto g = gradients(fused(options), x, ones({2, 2}));
    CHECK((slice(Tensor(g[0]), 0, 0, 1).value() == zeros({1, 2})));
    const Array weights = attention_weights(Tensor(x[0]), Tensor(x[1]), options).value();
    CHECK(close(static_cast<double>(g[2](0, 0)), static_cast<double>(weights(1, 0)), 1e-6));
    CHECK(close(static_cast<double>(g[2](1, 1)), static_cast<double>(weights(1, 1)), 1e-6));
    CHECK(difference(plain(options)({Tensor(x[0]), Tensor(x[1]), Tensor(x[2])}), y) == "");
  }
}

TEST_CASE("with num_heads, a mask or bias of (B, T, S) is used for all heads", "[ops][attention]") {
  const auto x = inputs({2, 3, 4}, {2, 5, 4}, {2, 5, 4});
  AttentionOptions shared = options_of(false, 4), repeated = shared;
  shared.mask = mask_of({2, 3, 5}, {1, 0, 1, 1, 0, 0, 1, 1, 0, 1, 1, 1, 0, 0, 1,
                                    0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 1, 0});
  repeated.mask = Mask::from_shape({2, 4, 3, 5});
  for (std::size_t i = 0; i < 120; ++i)
    repeated.mask->data()[i] = shared.mask->data()[i / 60 * 15 + i % 15];
  CHECK(twin_difference(fused(shared), fused(repeated), x, 0) == "");
  const Array weights = attention_weights(Tensor(x[0]), Tensor(x[1]), shared).value();
  for (std::size_t i = 0; i < 120; ++i)
    CHECK((weights.data()[i] == 0) == !repeated.mask->data()[i]);

  AttentionOptions added = options_of(false, 4);
  added.bias = Tensor(Array(*shared.mask)) * 1e9 - 1e9;
  const Array biased = attention_weights(Tensor(x[0]), Tensor(x[1]), added).value();
  CHECK(difference(biased, weights) == "");
}

TEST_CASE("a mask or bias of three axes is ambiguous if there are as many heads as batch items",
          "[ops][attention]") {
  const Tensor x = Tensor(zeros({2, 3, 4})).set_name("x");
  const std::string rest =
      " (2, 3, 3) is ambiguous for the scores (2, 2, 3, 3); give (B, 1, T, S) for one per batch "
      "item, (1, H, T, S) for one per head";
  AttentionOptions masked = options_of(false, 2), biased = masked;
  masked.mask = mask({2, 3, 3}, true);
  biased.bias = Tensor(zeros({2, 3, 3}));
  CHECK(message_of([&] { attention_weights(x, x, masked); }) == "attention: mask" + rest);
  CHECK(message_of([&] { attention_weights(x, x, biased); }) == "attention: bias" + rest);
}

TEST_CASE("a softcap limits the scores before bias and mask are applied", "[ops][attention]") {
  const Tensor q = tensor_of({1, 1}, {8}), k = tensor_of({3, 1}, {1, 2, 0});
  AttentionOptions options;
  options.softcap = 2;
  options.bias = Tensor(array_of({3}, {0, 1, -infinity}));
  const double first = std::exp(2 * std::tanh(4.)), second = std::exp(2 * std::tanh(8.) + 1);
  const Array expected = array_of({1, 3}, {first / (first + second), second / (first + second), 0});
  CHECK(difference(attention_weights(q, k, options), expected) == "");
  const Tensor v = tensor_of({3, 1}, {1, 0, 5});
  CHECK(
      close(scaled_dot_product_attention(q, k, v, options).item(), first / (first + second), 1e-6));
  options.bias = Tensor();  // without a mask, too
  CHECK(close(attention_weights(q, k, options).value()(0, 2),
              1 / (1 + first + second / std::exp(1.)), 1e-6));
  CHECK_FALSE(close(scaled_dot_product_attention(q, k, v, options).item(),
                    scaled_dot_product_attention(q, k, v).item(), 1e-3));
  for (const double softcap : {-1.0, infinity, not_a_number}) {
    options.softcap = softcap;
    CHECK(message_of([&] {
            attention_weights(q, k, options);
          }).find("; give a finite number, 0 or more") != std::string::npos);
  }
}

TEST_CASE("a bias or mask that does not broadcast to the scores throws an error with both shapes",
          "[ops][attention]") {
  const Tensor q(zeros({2, 3, 4})), k(zeros({2, 5, 4}));
  const auto error_of = [&](const AttentionOptions& options) {
    return message_of([&] { attention_weights(q, k, options); });
  };
  AttentionOptions biased = options_of(false, 2), masked = options_of(false, 2);
  biased.bias = Tensor(zeros({3, 4}));
  CHECK(error_of(biased) == "attention: bias (3, 4) does not broadcast to the scores (2, 2, 3, 5)");
  biased.bias = Tensor(zeros({1, 2, 2, 3, 5}));
  biased.bias.set_name("alibi");
  CHECK(error_of(biased) ==
        "attention: alibi (1, 2, 2, 3, 5) does not broadcast to the scores (2, 2, 3, 5)");
  masked.mask = mask_of({3, 4}, std::vector<int>(12, 1));
  CHECK(error_of(masked) == "attention: mask (3, 4) does not broadcast to the scores (2, 2, 3, 5)");
}

TEST_CASE("the memory of fused attention grows with T, not with T squared", "[ops][attention]") {
  AttentionOptions options;
  options.causal = true;
  options.num_heads = 2;
  const auto extra_memory = [&](std::size_t T) {  // without inputs, output and gradients, in bytes
    const std::vector<Array> x = inputs({1, T, 8}, {1, T, 8}, {1, T, 8});
    const std::vector<Tensor> in{Tensor(x[0], true), Tensor(x[1], true), Tensor(x[2], true)};
    const Array upstream = random_array({1, T, 8}, 5);
    const std::size_t before = allocated_bytes();
    reset_peak_bytes();
    const Tensor y = scaled_dot_product_attention(in[0], in[1], in[2], options);
    backward(y, upstream);
    const std::size_t results = 5 * T * 8 * sizeof(Real);  // y, dy and three gradients
    return static_cast<double>(peak_allocated_bytes() - before - results);
  };
  const int threads = num_threads();
  set_num_threads(1);
  const double at_512 = extra_memory(512), at_2048 = extra_memory(2048);
  set_num_threads(threads);
  CHECK(at_2048 < 4.5 * at_512);
  CHECK(at_2048 < 0.1 * 2048 * 2048 * 2 * sizeof(Real));  // 10 % of the attention weights
}

TEST_CASE("attention_with_weights gives the results of the two functions", "[ops][attention]") {
  const Tensor q(random_array({2, 3, 4}, 1)), k(random_array({2, 5, 4}, 2)),
      v(random_array({2, 5, 6}, 3));
  AttentionOptions options;
  for (const std::size_t heads : {std::size_t{1}, std::size_t{2}}) {
    options.num_heads = heads;
    options.causal = heads == 2;
    const AttentionResult result = attention_with_weights(q, k, v, options);
    CHECK(difference(result.output, scaled_dot_product_attention(q, k, v, options).value()) == "");
    CHECK(difference(result.weights, attention_weights(q, k, options).value(), 0) == "");
  }
}
