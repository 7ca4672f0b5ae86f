// heads_test.cpp: what is seen inside a model is what it does, and a head can be gone without.

#include "heed/study/heads.hpp"

#include <algorithm>
#include <memory>

#include "catch.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/shape.hpp"
#include "near.hpp"
#include "nn/small_gpt.hpp"

using namespace heed;
using namespace heed::test;

namespace {

constexpr std::uint64_t seed = 7;
const Indices tokens = indices_of({2, 4}, {0, 3, 1, 4, 2, 2, 0, 1});

// What the model makes of the heads that were seen: the same layer, from shares and values.
Tensor attended(const nn::Block& block, const Tensor& x, const Array& weights) {
  const Tensor values = split_heads(block.attention.value(block.norm1(x)), 2);  // (B, H, T, D)
  return x + block.attention.out(join_heads(matmul(Tensor(weights), values)));
}

}  // namespace

TEST_CASE("the shares seen inside are those the model works with", "[study][heads]") {
  const SmallGpt small(GENERATE(true, false), seed);
  const std::vector<LayerAttention> layers = capture_attention(small.gpt, tokens);
  REQUIRE(layers.size() == 2);
  Tensor x = small.gpt.embedded(tokens);  // (2, 4, 8)
  for (std::size_t i = 0; i < 2; ++i) {
    const nn::Block& block = small.gpt.blocks[i];
    const Tensor by_hand = attended(block, x, layers[i].weights);
    x = block(x, small.gpt.attention_mask());
    CHECK(difference((by_hand + block.mlp(block.norm2(by_hand))).value(), x.value(), 1e-5) == "");
  }
}

TEST_CASE("queries and keys seen inside give the shares", "[study][heads]") {
  const SmallGpt small(GENERATE(true, false), seed);
  for (const LayerAttention& layer : capture_attention(small.gpt, tokens)) {
    CHECK(shape_of(layer.queries) == Shape{2, 2, 4, 4});
    AttentionOptions options;
    options.causal = small.gpt.config.causal;
    const Tensor shares = attention_weights(Tensor(layer.queries), Tensor(layer.keys), options);
    CHECK(difference(shares.value(), layer.weights, 1e-6) == "");
  }
}

TEST_CASE("only a model that is not causal gives shares to the future", "[study][heads]") {
  for (const bool causal : {true, false}) {
    const SmallGpt small(causal, seed);
    for (const LayerAttention& layer : capture_attention(small.gpt, tokens))
      CHECK((layer.weights(0, 0, 0, 1) == 0) == causal);
  }
}

TEST_CASE("without a head, what it adds is missing, and afterwards it is back", "[study][heads]") {
  const SmallGpt small(true, seed);
  const Array whole = small.gpt(tokens).value();
  const nn::Block& block = small.gpt.blocks[0];
  const Tensor x = small.gpt.embedded(tokens);
  Array weights = capture_attention(small.gpt, tokens)[0].weights;  // (2, 2, 4, 4)
  for (const std::size_t text : {0, 1})
    std::fill_n(&weights(text, 1, 0, 0), 16, Real{0});  // head 1 looks at nothing
  const Array wanted = attended(block, x, weights).value();
  {
    const AblatedHead gone(small.gpt, 0, 1);
    const Array came = (x + block.attention(block.norm1(x), small.gpt.attention_mask())).value();
    CHECK(difference(came, wanted, 1e-5) == "");
    CHECK(small.gpt(tokens).value() != whole);
  }
  CHECK(small.gpt(tokens).value() == whole);
}

TEST_CASE("two heads can be gone at once, and come back in either order", "[study][heads]") {
  const std::size_t other = GENERATE(std::size_t{0}, std::size_t{1});  // 1 is the same one twice
  const bool last_first = GENERATE(true, false);
  const SmallGpt small(true, seed);
  const Array whole = small.gpt(tokens).value();
  auto a = std::make_unique<AblatedHead>(small.gpt, 0, 1);
  const Array without_a = small.gpt(tokens).value();
  auto b = std::make_unique<AblatedHead>(small.gpt, 0, other);
  CHECK((small.gpt(tokens).value() == without_a) == (other == 1));
  if (last_first) b.reset();
  if (last_first) CHECK(small.gpt(tokens).value() == without_a);
  a.reset();
  b.reset();
  CHECK(small.gpt(tokens).value() == whole);
}

TEST_CASE("a head that does not exist cannot be removed", "[study][heads]") {
  const SmallGpt small(true, seed);
  CHECK_THROWS_WITH(AblatedHead(small.gpt, 2, 0),
                    "WithoutHead: there is no layer 2; the model has layers 0 to 1");
  CHECK_THROWS_WITH(AblatedHead(small.gpt, 1, 2),
                    "WithoutHead: there is no head 2; the model has heads 0 to 1");
}
