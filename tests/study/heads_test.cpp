// heads_test.cpp: capture_attention matches the model's forward pass; AblatedHead removes a head.

#include "heed/study/heads.hpp"

#include <algorithm>
#include <memory>

#include "catch.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/shape.hpp"
#include "heed/study/ablation.hpp"
#include "small_model.hpp"

using namespace heed;
using namespace heed::test;

namespace {

constexpr std::uint64_t seed = 7;
const Indices tokens = indices_of({2, 4}, {0, 3, 1, 4, 2, 2, 0, 1});

// The attention sublayer with residual connection, computed from captured attention weights.
Tensor attention_sublayer(const nn::Block& block, const Tensor& x, const Array& weights) {
  const Tensor values = split_heads(block.attention.value(block.norm1(x)), 2);  // (B, H, T, D)
  return x + block.attention.out(join_heads(matmul(Tensor(weights), values)));
}

}  // namespace

TEST_CASE("captured attention weights reproduce the output of each block", "[study][heads]") {
  const RandomModel small(GENERATE(true, false), seed);
  const std::vector<LayerAttention> layers = capture_attention(small.gpt, tokens);
  REQUIRE(layers.size() == 2);
  Tensor x = small.gpt.embed(tokens);  // (2, 4, 8)
  for (std::size_t i = 0; i < 2; ++i) {
    const nn::Block& block = small.gpt.blocks[i];
    const Tensor by_hand = attention_sublayer(block, x, layers[i].weights);
    x = block(x, small.gpt.attention_mask());
    CHECK(difference((by_hand + block.mlp(block.norm2(by_hand))).value(), x.value(), 1e-5) == "");
  }
}

TEST_CASE("captured queries and keys give the captured attention weights", "[study][heads]") {
  const RandomModel small(GENERATE(true, false), seed);
  for (const LayerAttention& layer : capture_attention(small.gpt, tokens)) {
    CHECK(shape_of(layer.queries) == Shape{2, 2, 4, 4});
    AttentionOptions options;
    options.causal = small.gpt.config.causal;
    const Tensor weights = attention_weights(Tensor(layer.queries), Tensor(layer.keys), options);
    CHECK(difference(weights.value(), layer.weights, 1e-6) == "");
  }
}

TEST_CASE("attention weights of later positions are 0 in causal models only", "[study][heads]") {
  for (const bool causal : {true, false}) {
    const RandomModel small(causal, seed);
    for (const LayerAttention& layer : capture_attention(small.gpt, tokens))
      CHECK((layer.weights(0, 0, 0, 1) == 0) == causal);
  }
}

TEST_CASE("AblatedHead removes one head until it is destroyed", "[study][heads]") {
  const RandomModel small(true, seed);
  const Array logits = small.gpt(tokens).value();
  const nn::Block& block = small.gpt.blocks[0];
  const Tensor x = small.gpt.embed(tokens);
  Array weights = capture_attention(small.gpt, tokens)[0].weights;  // (2, 2, 4, 4)
  for (const std::size_t b : {0u, 1u})
    std::fill_n(&weights(b, 1, 0, 0), 16, Real{0});  // the output of head 1 becomes 0
  const Array expected = attention_sublayer(block, x, weights).value();
  {
    const AblatedHead ablated(small.gpt, 0, 1);
    const Array actual = (x + block.attention(block.norm1(x), small.gpt.attention_mask())).value();
    CHECK(difference(actual, expected, 1e-5) == "");
    CHECK(small.gpt(tokens).value() != logits);
  }
  CHECK(small.gpt(tokens).value() == logits);
}

TEST_CASE("two AblatedHeads may end in either order, also of the same head", "[study][heads]") {
  const std::size_t other = GENERATE(std::size_t{0}, std::size_t{1});  // 1: the same head twice
  const bool end_b_first = GENERATE(true, false);
  const RandomModel small(true, seed);
  const Array logits = small.gpt(tokens).value();
  auto a = std::make_unique<AblatedHead>(small.gpt, 0, 1);
  const Array without_a = small.gpt(tokens).value();
  auto b = std::make_unique<AblatedHead>(small.gpt, 0, other);
  CHECK((small.gpt(tokens).value() == without_a) == (other == 1));
  if (end_b_first) b.reset();
  if (end_b_first) CHECK(small.gpt(tokens).value() == without_a);
  a.reset();
  b.reset();
  CHECK(small.gpt(tokens).value() == logits);
}

TEST_CASE("AblatedHead rejects a layer or head that does not exist", "[study][heads]") {
  const RandomModel small(true, seed);
  CHECK_THROWS_WITH(AblatedHead(small.gpt, 2, 0),
                    "AblatedHead: there is no layer 2; the model has layers 0 to 1");
  CHECK_THROWS_WITH(AblatedHead(small.gpt, 1, 2),
                    "AblatedHead: there is no head 2; the model has heads 0 to 1");
}
