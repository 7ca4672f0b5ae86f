// attention_masks_test.cpp: attention with key padding, sliding windows and grouped queries.

#include <cmath>

#include "attention_cases.hpp"
#include "catch.hpp"
#include "heed/array/parallel.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/shape.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using X = const std::vector<Tensor>&;

AttentionOptions causal_window(std::size_t window, std::size_t past = 0) {
  AttentionOptions options;
  options.causal = true;
  options.window = window;
  options.past = past;
  return options;
}

AttentionOptions grouped(std::size_t num_heads, std::size_t num_kv_heads) {
  AttentionOptions options;
  options.num_heads = num_heads;
  options.num_kv_heads = num_kv_heads;
  return options;
}

AttentionOptions padded(const Mask& padding) {
  AttentionOptions options;
  options.key_padding = padding;
  return options;
}

// The elements of x (B, S, C) at key s of sentence b.
Array at_key(const Array& x, std::size_t b, std::size_t s) {
  return select(select(Tensor(x), 0, static_cast<int>(b)), 0, static_cast<int>(s)).value();
}

bool is_zero(const Array& x) { return x == zeros(x.shape()); }

}  // namespace

TEST_CASE("a window of 2 gives each query its own key and the key before it",
          "[ops][attention][attention_masks]") {
  const Tensor q(zeros({4, 2})), k(zeros({4, 2})), v(array_of({4, 1}, {2, 4, 8, 16}));
  CHECK(difference(attention_weights(q, k, causal_window(2)),
                   array_of({4, 4}, {1, 0, 0, 0, .5, .5, 0, 0, 0, .5, .5, 0, 0, 0, .5, .5})) == "");
  CHECK(difference(scaled_dot_product_attention(q, k, v, causal_window(2)),
                   array_of({4, 1}, {2, 3, 6, 12})) == "");
  CHECK((scaled_dot_product_attention(q, k, v, causal_window(1)).value() == v.value()));
  const Tensor last = slice(q, 0, 3);
  CHECK(difference(scaled_dot_product_attention(last, k, v, causal_window(3, 3)),
                   array_of({1, 1}, {28.0 / 3})) == "");
}

TEST_CASE("padded keys have a weight of 0 by hand", "[ops][attention][attention_masks]") {
  const Tensor q(zeros({2, 1, 2})), k(zeros({2, 3, 2}));
  const Tensor v(array_of({2, 3, 1}, {2, 4, 8, 2, 4, 8}));
  const AttentionOptions options = padded(mask_of({2, 3}, {0, 1, 0, 1, 0, 0}));
  CHECK(difference(attention_weights(q, k, options), array_of({2, 1, 3}, {.5, 0, .5, 0, .5, .5})) ==
        "");
  CHECK(difference(scaled_dot_product_attention(q, k, v, options), array_of({2, 1, 1}, {5, 6})) ==
        "");
}

TEST_CASE("neighbouring query heads share a key and value head by hand",
          "[ops][attention][attention_masks]") {
  // Four query heads and two key and value heads of width 1. All scores are 0, so that each query
  // head has the mean of the values of its head: 1.5 or 15.
  const Tensor q(zeros({1, 1, 4})), k(zeros({1, 2, 2})), v(array_of({1, 2, 2}, {1, 10, 2, 20}));
  CHECK(difference(scaled_dot_product_attention(q, k, v, grouped(4, 2)),
                   array_of({1, 1, 4}, {1.5, 1.5, 15, 15})) == "");
  CHECK(str(attention_weights(q, k, grouped(4, 2)).shape()) == "(1, 4, 1, 2)");
  const auto g = gradients(fused_attention_of(grouped(4, 2)), {q.value(), k.value(), v.value()},
                           array_of({1, 1, 4}, {1, 2, 4, 8}));
  CHECK(difference(g[2], array_of({1, 2, 2}, {1.5, 6, 1.5, 6})) == "");
}

TEST_CASE("fused attention equals its composition with padding, windows and grouped queries",
          "[ops][attention][attention_masks]") {
  for (const AttentionSizes& n : {AttentionSizes{3, 1, 1},
                                  {3, 7, 7},
                                  {3, 5, 9},
                                  {3, 9, 5},
                                  {2, 40, 3},
                                  {3, 4, 9, 5},
                                  {2, 1, 20, 19},
                                  {2, 3, 20, 9}})
    CHECK(fused_attention_error(n, 5e-6) == "");
}

TEST_CASE("fused attention equals its composition for several blocks of rows",
          "[ops][attention][attention_masks]") {
  for (const AttentionSizes& n :
       {AttentionSizes{3, 33, 33}, {2, 70, 70}, {2, 40, 90, 45}, {2, 100, 30}})
    CHECK(fused_attention_error(n, 1e-5) == "");
}

TEST_CASE("fused attention equals its composition for more than 256 queries",
          "[ops][attention][attention_masks]") {
  for (const std::size_t window : {0u, 1u, 60u, 64u, 100u, 259u, 260u, 300u})
    for (const std::size_t past : {0u, 30u}) {
      INFO("window " << window << ", past " << past);
      AttentionOptions options = causal_window(window, past);
      options.num_heads = 4;
      options.num_kv_heads = 2;
      const std::size_t S = 260 + past;
      Mask padding = key_padding(Padding::end, 2, S);
      for (std::size_t s = 50; s < 190; ++s) padding(0, s) = true;
      for (std::size_t s = 150; s < S; ++s) padding(1, s) = true;
      options.key_padding = padding;
      const AttentionCase c{"", options, {2, 260, S, past}};
      CHECK(twin_difference(fused_attention_of(options), composed_attention_of(options), c.inputs(),
                            1e-5) == "");
    }
}

TEST_CASE("a window of at least T keys changes no bit", "[ops][attention][attention_masks]") {
  const AttentionCase c{"", causal_window(0), {2, 70, 70}};
  const auto x = c.inputs();
  for (const std::size_t window : {std::size_t{70}, std::size_t{71}, static_cast<std::size_t>(-1)})
    CHECK(twin_difference(fused_attention_of(causal_window(window)),
                          fused_attention_of(causal_window(0)), x, 0) == "");
}

TEST_CASE("as many key and value heads as query heads change no bit",
          "[ops][attention][attention_masks]") {
  const AttentionCase c{"", grouped(4, 4), {2, 37, 41}};
  CHECK(twin_difference(fused_attention_of(grouped(4, 4)), fused_attention_of(grouped(4, 0)),
                        c.inputs(), 0) == "");
}

TEST_CASE("grouped queries equal attention with repeated keys and values",
          "[ops][attention][attention_masks]") {
  for (const bool causal : {false, true})
    for (const std::size_t kv_heads : {1u, 2u, 4u}) {
      AttentionOptions options = grouped(4, kv_heads), one_head;
      options.causal = one_head.causal = causal;
      const auto repeated = [=](const Tensor& x) {
        return repeat_kv_heads(split_heads(x, kv_heads), 4);
      };
      const Function by_hand = [=](X x) {
        return join_heads(scaled_dot_product_attention(split_heads(x[0], 4), repeated(x[1]),
                                                       repeated(x[2]), one_head));
      };
      const AttentionCase c{"", options, {2, 37, 41}};
      CHECK(twin_difference(fused_attention_of(options), by_hand, c.inputs(), 2e-6) == "");
    }
}

TEST_CASE("no gradient reaches padded keys and values", "[ops][attention][attention_masks]") {
  for (const bool causal : {false, true})
    for (const Padding kind : {Padding::end, Padding::start, Padding::middle, Padding::sentences}) {
      AttentionOptions options = grouped(4, 2);
      options.causal = causal;
      options.key_padding = key_padding(kind, 3, 40);
      const AttentionCase c{"", options, {3, 40, 40}};
      const auto g =
          gradients(fused_attention_of(options), c.inputs(), random_array({3, 40, 12}, 4));
      for (std::size_t b = 0; b < 3; ++b)
        for (std::size_t s = 0; s < 40; ++s) {
          const bool reached = !(*options.key_padding)(b, s);
          CHECK(is_zero(at_key(g[1], b, s)) != reached);
          CHECK(is_zero(at_key(g[2], b, s)) != reached);
        }
    }
}

TEST_CASE("no gradient reaches keys outside the window", "[ops][attention][attention_masks]") {
  AttentionOptions options = causal_window(3, 80);
  options.num_heads = 2;
  options.num_kv_heads = 1;
  const AttentionCase c{"", options, {1, 2, 90, 80}};  // queries 80 and 81 attend to keys 78 to 81
  const auto g = gradients(fused_attention_of(options), c.inputs(), random_array({1, 2, 6}, 4));
  for (std::size_t s = 0; s < 90; ++s) {
    CHECK(is_zero(at_key(g[1], 0, s)) == (s < 78 || s > 81));
    CHECK(is_zero(at_key(g[2], 0, s)) == (s < 78 || s > 81));
  }
}

TEST_CASE("values of padded keys and of keys outside the window change no bit",
          "[ops][attention][attention_masks]") {
  AttentionOptions options = causal_window(3, 40);
  options.key_padding = key_padding(Padding::middle, 2, 45);
  (*options.key_padding)(1, 41) = true;
  const AttentionCase c{"", options, {2, 5, 45, 40}};
  auto x = c.inputs();
  const Array before =
      fused_attention_of(options)({Tensor(x[0]), Tensor(x[1]), Tensor(x[2])}).value();
  for (std::size_t i = 1; i < 3; ++i)
    for (std::size_t b = 0; b < 2; ++b)
      for (std::size_t s = 0; s < 45; ++s)
        if (s < 38 || (b == 1 && s == 41))
          for (std::size_t c_ = 0; c_ < x[i].shape()[2]; ++c_) x[i](b, s, c_) += 9;
  CHECK(same_bits(fused_attention_of(options)({Tensor(x[0]), Tensor(x[1]), Tensor(x[2])}).value(),
                  before));
}

TEST_CASE("a sentence that is all padding has zero output, weights and gradients",
          "[ops][attention][attention_masks]") {
  for (const bool causal : {false, true}) {
    AttentionOptions options = padded(mask_of({2, 3}, {0, 0, 1, 1, 1, 1}));
    options.causal = causal;
    const AttentionCase c{"", options, {2, 70, 3}};
    const auto x = c.inputs();
    const std::vector<Tensor> in{Tensor(x[0]), Tensor(x[1]), Tensor(x[2])};
    CHECK(is_zero(slice(fused_attention_of(options)(in), 0, 1).value()));
    CHECK(is_zero(slice(attention_weights(in[0], in[1], options), 0, 1).value()));
    const auto g = gradients(fused_attention_of(options), x, ones({2, 70, 3}));
    for (const Array& gradient : g) {
      CHECK(is_zero(slice(Tensor(gradient), 0, 1).value()));
      CHECK_FALSE(is_zero(slice(Tensor(gradient), 0, 0, 1).value()));
    }
  }
}

TEST_CASE("queries whose window lies behind the last key have zero output and gradient",
          "[ops][attention][attention_masks]") {
  const AttentionOptions options = causal_window(2);  // query t attends to keys t - 1 and t
  const AttentionCase c{"", options, {1, 300, 5}};
  const auto x = c.inputs();
  const Tensor y = fused_attention_of(options)({Tensor(x[0]), Tensor(x[1]), Tensor(x[2])});
  CHECK(is_zero(slice(y, 1, 6).value()));
  CHECK_FALSE(is_zero(slice(y, 1, 5, 6).value()));
  const auto g = gradients(fused_attention_of(options), x, ones({1, 300, 3}));
  CHECK(is_zero(slice(Tensor(g[0]), 1, 6).value()));
}

TEST_CASE("a window and padding equal an explicit mask", "[ops][attention][attention_masks]") {
  AttentionOptions options = causal_window(3), masked;
  options.num_heads = masked.num_heads = 2;
  options.num_kv_heads = masked.num_kv_heads = 1;
  options.key_padding = key_padding(Padding::middle, 3, 7);
  Mask visible = mask({3, 7, 7});
  for (std::size_t b = 0; b < 3; ++b)
    for (std::size_t t = 0; t < 7; ++t)
      for (std::size_t s = 0; s < 7; ++s)
        visible(b, t, s) = s <= t && t < s + 3 && !(*options.key_padding)(b, s);
  masked.mask = visible;
  const AttentionCase c{"", options, {3, 7, 7}};
  CHECK(twin_difference(fused_attention_of(options), fused_attention_of(masked), c.inputs(),
                        2e-6) == "");
  AttentionOptions both = options;  // a mask and a bias use the composition
  both.mask = mask_of({7}, {1, 1, 1, 1, 1, 1, 1});
  CHECK(twin_difference(fused_attention_of(both), composed_attention_of(options), c.inputs(), 0) ==
        "");
}

TEST_CASE("attention with all options has the same bits with one and two threads",
          "[ops][attention][attention_masks]") {
  AttentionOptions options = causal_window(100);
  options.num_heads = 4;
  options.num_kv_heads = 2;
  options.key_padding = key_padding(Padding::sentences, 3, 300);
  const AttentionCase c{"", options, {3, 300, 300}};
  const auto x = c.inputs();
  const Array up = random_array({3, 300, 12}, 4);
  const int threads = num_threads();
  std::vector<std::vector<Array>> results;
  for (const int n : {1, 2}) {
    set_num_threads(n);
    results.push_back(gradients(fused_attention_of(options), x, up));
    results.back().push_back(
        fused_attention_of(options)({Tensor(x[0]), Tensor(x[1]), Tensor(x[2])}).value());
  }
  set_num_threads(threads);
  for (std::size_t i = 0; i < 4; ++i) CHECK(same_bits(results[0][i], results[1][i]));
}

TEST_CASE("repeat_kv_heads repeats each head for neighbouring query heads",
          "[ops][attention][attention_masks]") {
  const Array x = array_of({1, 2, 1, 2}, {1, 2, 3, 4});
  CHECK(
      (repeat_kv_heads(Tensor(x), 4).value() == array_of({1, 4, 1, 2}, {1, 2, 1, 2, 3, 4, 3, 4})));
  CHECK((repeat_kv_heads(Tensor(x), 2).value() == x));
  CHECK((gradients([](X in) { return repeat_kv_heads(in[0], 4); }, {x},
                   array_of({1, 4, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8}))[0] ==
         array_of({1, 2, 1, 2}, {4, 6, 12, 14})));
  const std::string must = " must be (B, H_kv, S, D) with H_kv a divisor of num_heads = ";
  CHECK(message_of([&] { repeat_kv_heads(Tensor(x), 3); }) ==
        "repeat_kv_heads: x (1, 2, 1, 2)" + must + "3");
  CHECK(message_of([&] {
          repeat_kv_heads(Tensor(zeros({2, 3, 4})), 3);
        }) == "repeat_kv_heads: x (2, 3, 4)" + must + "3");
  CHECK(message_of([&] {
          repeat_kv_heads(Tensor(zeros({2, 0, 3, 4})), 3);
        }) == "repeat_kv_heads: x (2, 0, 3, 4)" + must + "3");
}

TEST_CASE("weighted_values gives the output that belongs to the weights",
          "[ops][attention][attention_masks]") {
  const Array one_hot = array_of({1, 2, 1, 2}, {1, 0, 0, 1}), v = array_of({1, 2, 1}, {3, 7});
  CHECK((weighted_values(Tensor(one_hot), Tensor(v), grouped(2, 1)).value() ==
         array_of({1, 1, 2}, {3, 7})));
  CHECK((weighted_values(Tensor(array_of({1, 2}, {0.5, 0.25})), Tensor(array_of({2, 1}, {4, 8})))
             .value() == array_of({1, 1}, {4})));
  for (const AttentionCase& c : attention_cases({2, 4, 4})) {
    const auto x = c.inputs();
    const std::vector<Tensor> in{Tensor(x[0]), Tensor(x[1]), Tensor(x[2])};
    const Tensor weights = attention_weights(in[0], in[1], c.options);
    CHECK(same_bits(weighted_values(weights, in[2], c.options).value(),
                    composed_attention_of(c.options)(in).value()));
  }
}

TEST_CASE("windows, padding and groups that do not fit throw an error",
          "[ops][attention][attention_masks]") {
  const auto error_of = [](const AttentionOptions& options, const Shape& q, const Shape& k) {
    const Tensor queries(zeros(q)), keys(zeros(k));
    const std::string text =
        message_of([&] { scaled_dot_product_attention(queries, keys, keys, options); });
    CHECK(message_of([&] { attention_with_weights(queries, keys, keys, options); }) == text);
    return text;
  };
  AttentionOptions not_causal = causal_window(3);
  not_causal.causal = false;
  CHECK(error_of(not_causal, {2, 3, 4}, {2, 5, 4}) ==
        "attention: window = 3 needs causal attention; set causal, or set window to 0");
  for (const Shape& shape : {Shape{2, 4}, Shape{1, 5}, Shape{5}, Shape{2, 1, 5}, Shape{}})
    CHECK(error_of(padded(mask(shape)), {2, 3, 4}, {2, 5, 4}) ==
          "attention: key_padding " + str(shape) + " must be (B, S) of k (2, 5, 4)");
  CHECK(error_of(padded(mask({1, 5})), {3, 4}, {5, 4}) ==
        "attention: key_padding (1, 5) must be (B, S) of k (5, 4)");
  CHECK(error_of(grouped(4, 3), {2, 3, 8}, {2, 5, 6}) ==
        "attention: num_heads = 4 must be divisible by num_kv_heads = 3");
  CHECK(error_of(grouped(2, 4), {2, 3, 8}, {2, 5, 16}) ==
        "attention: num_heads = 2 must be divisible by num_kv_heads = 4");
  CHECK(error_of(grouped(1, 2), {2, 3, 8}, {2, 5, 16}) ==
        "attention: num_heads = 1 must be divisible by num_kv_heads = 2");
  CHECK(error_of(grouped(4, 2), {2, 3, 8}, {2, 5, 5}) ==
        "attention: k (2, 5, 5) must be (B, T, C) with C divisible by num_kv_heads = 2");
  CHECK(error_of(grouped(4, 2), {2, 3, 8}, {2, 5, 8}) ==
        "attention: queries and keys differ in width: q (2, 3, 8), k (2, 5, 8), v (2, 5, 8), "
        "num_heads = 4, num_kv_heads = 2");
  CHECK(message_of([] {
          attention_weights(Tensor(zeros({2, 3, 8})), Tensor(zeros({2, 5, 8})), grouped(4, 2));
        }) ==
        "attention: queries and keys differ in width: q (2, 3, 8), k (2, 5, 8), num_heads = 4, "
        "num_kv_heads = 2");
  CHECK(message_of([] {
          scaled_dot_product_attention(Tensor(zeros({2, 3, 8})), Tensor(zeros({2, 5, 4})),
                                       Tensor(zeros({2, 5, 3})), grouped(4, 2));
        }) == "attention: v (2, 5, 3) must be (B, T, C) with C divisible by num_kv_heads = 2");
  CHECK(error_of(grouped(4, 2), {2, 3, 8}, {2, 5, 4}) == "");
}

TEST_CASE("an additive mask as AttentionOptions::mask is an error that names the bias",
          "[ops][attention]") {
  AttentionOptions options;
  CHECK(
      message_of([&] {
        options.mask = array_of({3}, {0, 0, -infinity});
      }) ==
      "mask: -inf is neither 0 nor 1. In attention, a mask is 1 (true) where the query may attend "
      "to the key; give scores to add, such as 0 and -infinity, as AttentionOptions::bias. In "
      "masked_fill, a mask is 1 where the value is filled in");
  options.mask = array_of({3}, {1, 1, 0});
  CHECK((*options.mask == mask_of({3}, {1, 1, 0})));
}
