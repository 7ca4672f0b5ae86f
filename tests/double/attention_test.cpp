// attention_test.cpp: gradient checks of attention, fused and plain, against finite differences.

#include "heed/ops/attention.hpp"

#include "attention_cases.hpp"
#include "catch.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using X = const std::vector<Tensor>&;

std::string attention_error(const AttentionOptions& options, const Shape& q, const Shape& k,
                            const Shape& v) {
  return gradcheck_error(
      [&](X x) { return scaled_dot_product_attention(x[0], x[1], x[2], options); },
      {random_array(q, 1), random_array(k, 2), random_array(v, 3)});
}

AttentionOptions options_of(bool causal, std::size_t heads = 1) {
  AttentionOptions options;
  options.causal = causal;
  options.num_heads = heads;
  return options;
}

}  // namespace

TEST_CASE("gradients of fused attention, causal or not", "[double][attention]") {
  for (const bool causal : {false, true}) {
    const AttentionOptions options = options_of(causal);
    CHECK(attention_error(options, {3, 2}, {3, 2}, {3, 4}) == "");
    CHECK(attention_error(options, {2, 4, 3}, {2, 4, 3}, {2, 4, 2}) == "");
    CHECK(attention_error(options, {2, 2, 3, 2}, {2, 2, 3, 2}, {2, 2, 3, 2}) == "");
    CHECK(attention_error(options, {1, 1}, {1, 1}, {1, 1}) == "");
    CHECK(attention_error(options, {2, 3}, {5, 3}, {5, 2}) == "");
    CHECK(attention_error(options, {5, 3}, {2, 3}, {2, 2}) == "");
    CHECK(attention_error(options, {35, 2}, {35, 2}, {35, 2}) == "");  // two blocks of rows
    CHECK(attention_error(options, {35, 2}, {3, 2}, {3, 2}) == "");
    CHECK(attention_error(options, {0, 2}, {3, 2}, {3, 2}) == "");
    CHECK(attention_error(options, {2, 2}, {0, 2}, {0, 2}) == "");
  }
}

TEST_CASE("gradients of fused attention with several heads and a scale", "[double][attention]") {
  for (const bool causal : {false, true}) {
    AttentionOptions options = options_of(causal, 2);
    CHECK(attention_error(options, {2, 3, 4}, {2, 3, 4}, {2, 3, 4}) == "");
    CHECK(attention_error(options, {1, 3, 4}, {1, 5, 4}, {1, 5, 6}) == "");
    options.scale = 0.3;
    CHECK(attention_error(options, {1, 33, 4}, {1, 33, 4}, {1, 33, 2}) == "");
  }
}

TEST_CASE("gradients of attention with past, fused and plain", "[double][attention]") {
  for (const std::size_t past : {1u, 3u, 33u}) {
    AttentionOptions options = options_of(true, 2);
    options.past = past;
    const std::size_t S = past + 3;  // no query attends to the last key
    CHECK(attention_error(options, {2, 2, 4}, {2, S, 4}, {2, S, 6}) == "");
    CHECK(gradcheck_error([&](X x) { return attention_weights(x[0], x[1], options); },
                          {random_array({1, 2, 4}, 1), random_array({1, S, 4}, 2)}) == "");
  }
  AttentionOptions options = options_of(true);
  options.past = 2;
  CHECK(attention_error(options, {35, 2}, {37, 2}, {37, 2}) == "");  // two blocks of rows
}

TEST_CASE("fused attention equals its composition to twelve digits: padding, windows, groups",
          "[double][attention]") {
  for (const AttentionSizes& n :
       {AttentionSizes{3, 7, 7}, {2, 40, 3}, {3, 4, 9, 5}, {2, 70, 70}, {2, 40, 90, 45}})
    CHECK(fused_attention_error(n, 1e-12) == "");
}

TEST_CASE("gradients of attention with a window, padding and grouped queries",
          "[double][attention]") {
  for (const std::size_t window : {0u, 1u, 2u, 34u})
    for (const std::size_t kv_heads : {1u, 2u}) {
      AttentionOptions options = options_of(true, 2);
      options.window = window;
      options.num_kv_heads = kv_heads;
      CHECK(attention_error(options, {1, 4, 4}, {1, 4, 2 * kv_heads}, {1, 4, kv_heads}) == "");
      options.key_padding = key_padding(Padding::middle, 2, 37);
      options.past = 2;
      CHECK(attention_error(options, {2, 35, 4}, {2, 37, 2 * kv_heads}, {2, 37, kv_heads}) == "");
    }
}

TEST_CASE("gradients of masked attention, with a fully masked row", "[double][attention]") {
  for (const bool causal : {false, true}) {
    AttentionOptions options = options_of(causal);
    options.mask = mask_of({3, 3}, {1, 0, 1, 0, 0, 0, 1, 1, 0});
    CHECK(attention_error(options, {2, 3, 2}, {2, 3, 2}, {2, 3, 2}) == "");
    options.num_heads = 2;
    CHECK(attention_error(options, {2, 3, 4}, {2, 3, 4}, {2, 3, 4}) == "");
  }
}

TEST_CASE("gradients of attention with a bias that broadcasts", "[double][attention]") {
  for (const Shape& shape : {Shape{3, 4}, Shape{2, 3, 4}, Shape{4}, Shape{3, 1}}) {
    const Function biased = [](X x) {
      AttentionOptions options;
      options.bias = x[3];
      return scaled_dot_product_attention(x[0], x[1], x[2], options);
    };
    CHECK(gradcheck_error(biased, {random_array({2, 3, 2}, 1), random_array({2, 4, 2}, 2),
                                   random_array({2, 4, 2}, 3), random_array(shape, 4)}) == "");
  }
}

TEST_CASE("gradients of the attention weights", "[double][attention]") {
  for (const std::size_t heads : {1u, 2u})
    for (const bool causal : {false, true}) {
      const AttentionOptions options = options_of(causal, heads);
      CHECK(gradcheck_error([&](X x) { return attention_weights(x[0], x[1], options); },
                            {random_array({2, 3, 4}, 1), random_array({2, 3, 4}, 2)}) == "");
    }
}

TEST_CASE("gradients of attention of a tensor to itself", "[double][attention]") {
  const Function self_attention = [](X x) {
    return scaled_dot_product_attention(x[0], x[0], x[0], options_of(true));
  };
  CHECK(gradcheck_error(self_attention, {random_array({2, 5, 3}, 1)}) == "");
}
