// head_kinds_test.cpp: head_scores of weights by hand, and of heads with constructed weights.

#include <cmath>
#include <limits>

#include "catch.hpp"
#include "heed/study/heads.hpp"
#include "small_model.hpp"

using namespace heed;
using namespace heed::nn;
using namespace heed::test;
using namespace heed::test;

namespace {

const HeadKind& previous = head_kinds()[0];
const HeadKind& first = head_kinds()[1];
const HeadKind& same = head_kinds()[2];

// One window with one head: (1, 1, T, T).
Array one_head(Array weights) {
  const std::size_t T = weights.shape()[0];
  weights.reshape({1, 1, T, T});
  return weights;
}

double score(const HeadKind& kind, const Array& weights, const Indices& tokens,
             bool causal = true) {
  const Array scores = head_scores(kind, one_head(weights), tokens, causal);
  REQUIRE(scores.size() == 1);
  return static_cast<double>(scores(0));
}

bool nearly(double a, double b) { return std::abs(a - b) < 1e-6; }

const Indices abab = {{0, 1, 0, 1}};

const Array causal_weights = {{1, 0, 0, 0},
                              {Real(0.75), Real(0.25), 0, 0},
                              {Real(0.25), Real(0.5), Real(0.25), 0},
                              {Real(0.125), Real(0.5), Real(0.25), Real(0.125)}};

// Makes a head attend from position t to t - offset: position embeddings become one-hot vectors of
// the position, keys copy them, and queries copy them shifted by `offset`. D = T.
void plant(const Gpt& model, std::size_t layer, std::size_t head, std::size_t offset) {
  const std::size_t C = model.config.embed_dim, T = model.config.block_size;
  Tensor position = model.position->weight;  // (T, C)
  for (std::size_t t = 0; t < T; ++t) position.mutable_value()(t, t) = 3;
  Tensor query = model.blocks[layer].attention.query.weight;  // (C, C), rows are outputs
  Tensor key = model.blocks[layer].attention.key.weight;
  for (std::size_t d = 0; d < T; ++d) {
    const std::size_t row = head * T + d;
    for (std::size_t c = 0; c < C; ++c)
      query.mutable_value()(row, c) = key.mutable_value()(row, c) = 0;
    key.mutable_value()(row, d) = 2;
    if (d + offset < T) query.mutable_value()(row, d + offset) = 2;
  }
}

struct RandomGpt : SmallModel {
  RandomGpt(bool causal, std::uint64_t seed)
      : SmallModel(causal ? sizes() : bidirectional(sizes()), seed) {
    for (const Block& block : gpt.blocks)
      for (Tensor weight : {block.attention.query.weight, block.attention.key.weight})
        weight.mutable_value() = generator.normal(weight.shape(), 0, 0.15);
  }
  static GptConfig sizes() { return small_config(7, {8, 32, 3, 4}); }
};

}  // namespace

TEST_CASE("the score is the mean over rows that have a position of the kind", "[study][heads]") {
  CHECK(nearly(score(previous, causal_weights, abab), (0.75 + 0.5 + 0.25) / 3));
  CHECK(nearly(score(first, causal_weights, abab), (0.75 + 0.25 + 0.125) / 3));
  CHECK(nearly(score(same, causal_weights, abab), (0.25 + 0.5) / 2));  // rows 2 and 3
}

TEST_CASE("same token: the weights of all such positions of a row are added", "[study][heads]") {
  CHECK(nearly(score(same, causal_weights, {{5, 5, 5, 7}}), (0.75 + (0.25 + 0.5)) / 2));
}

TEST_CASE("same token: without a causal mask, later positions count too", "[study][heads]") {
  const Array weights = {{Real(0.5), Real(0.25), Real(0.25)},
                         {Real(0.125), Real(0.75), Real(0.125)},
                         {Real(0.5), Real(0.375), Real(0.125)}};
  const Indices aba = {{0, 1, 0}};
  CHECK(nearly(score(same, weights, aba, false), (0.25 + 0.5) / 2));
  CHECK(nearly(score(same, weights, aba, true), 0.5));  // row 0 attends only to itself
  CHECK(nearly(score(previous, weights, aba, false), (0.125 + 0.375) / 2));
  CHECK(nearly(score(first, weights, aba, false), (0.125 + 0.5) / 2));
}

TEST_CASE("uniform_score is the score of uniform attention weights", "[study][heads]") {
  CHECK(nearly(uniform_score(previous, abab, true), (1.0 / 2 + 1.0 / 3 + 1.0 / 4) / 3));
  CHECK(nearly(uniform_score(first, abab, true), (1.0 / 2 + 1.0 / 3 + 1.0 / 4) / 3));
  CHECK(nearly(uniform_score(same, abab, true), (1.0 / 3 + 1.0 / 4) / 2));
  CHECK(nearly(uniform_score(previous, abab, false), 0.25));
  CHECK(nearly(uniform_score(same, abab, false), 0.25));
  CHECK(nearly(uniform_score(same, {{3, 3, 3, 1}}, false), 0.5));
}

// Tokens a b c a b: query 3 (a) attends to key 1, which follows the first a; query 4 to key 2.
TEST_CASE("the induction score is the weight of the keys after earlier occurrences",
          "[study][heads]") {
  const Indices tokens = {{0, 1, 2, 0, 1}};
  Array weights = zeros({1, 1, 5, 5});
  for (std::size_t t = 0; t < 5; ++t) weights(0, 0, t, 0) = 1;
  weights(0, 0, 3, 0) = Real(0.25), weights(0, 0, 3, 1) = Real(0.75);
  CHECK(difference(head_scores(induction_kind(), weights, tokens, true), Array{Real(0.375)}) == "");
  CHECK(nearly(uniform_score(induction_kind(), tokens, true), (1.0 / 4 + 1.0 / 5) / 2));
}

TEST_CASE("induction: a token may follow an equal token, and attend to itself", "[study][heads]") {
  const Array weights = {{1, 0}, {Real(0.25), Real(0.75)}};
  CHECK(nearly(score(induction_kind(), weights, {{5, 5}}), 0.75));
}

TEST_CASE("each head has its own score, averaged over all windows", "[study][heads]") {
  Array weights = zeros({2, 2, 2, 2});
  for (std::size_t b = 0; b < 2; ++b) {  // row 1 attends to row 0 in head 0, to itself in head 1
    weights(b, 0, 1, 0) = 1, weights(b, 1, 1, 1) = 1;
    for (std::size_t h = 0; h < 2; ++h) weights(b, h, 0, 0) = 1;
  }
  weights(1, 0, 1, 0) = Real(0.5), weights(1, 0, 1, 1) = Real(0.5);
  const Indices tokens = {{4, 4}, {4, 9}};
  CHECK(difference(head_scores(previous, weights, tokens, true), Array{Real(0.75), 0}) == "");
  CHECK(difference(head_scores(same, weights, tokens, true), Array{1, 0}) == "");  // window 0 only
}

TEST_CASE("the score is NaN if no row has a position of the kind", "[study][heads]") {
  CHECK(std::isnan(score(same, causal_weights, {{0, 1, 2, 3}})));
  CHECK(std::isnan(uniform_score(same, {{0, 1, 2, 3}}, true)));
  const Indices one = indices_of({1, 1}, {0});
  for (const HeadKind& kind : head_kinds()) CHECK(std::isnan(score(kind, ones({1, 1}), one)));
}

TEST_CASE("head_scores rejects weights whose shape does not fit the tokens", "[study][heads]") {
  CHECK_THROWS_WITH(head_scores(first, zeros({1, 2, 3, 3}), abab, true),
                    "head_scores: weights must be (B, H, T, T) and tokens (B, T), got (1, 2, 3, 3) "
                    "and (1, 4)");
  CHECK_THROWS_WITH(uniform_score(first, Indices{1, 2}, true),
                    "head_scores: weights must be (B, H, T, T) and tokens (B, T), got () and (2)");
}

TEST_CASE("a planted previous-token head scores far above random heads", "[study][heads]") {
  for (const bool causal : {true, false})
    for (const std::size_t layer : {0u, 2u}) {
      const RandomGpt random(causal, 7 + layer);
      plant(random.gpt, layer, 3, 1);
      Indices tokens = Indices::from_shape({4, 8});
      for (std::size_t i = 0; i < tokens.size(); ++i)
        tokens.data()[i] = static_cast<std::int64_t>((i * i + 3 * i) % 7);
      const std::vector<LayerAttention> layers = capture_attention(random.gpt, tokens);
      const double uniform = uniform_score(previous, tokens, causal);
      for (std::size_t l = 0; l < layers.size(); ++l) {
        const Array scores = head_scores(previous, layers[l].weights, tokens, causal);
        for (std::size_t h = 0; h < 4; ++h) {
          INFO("layer " << l << ", head " << h << ": " << scores(h) << ", uniform: " << uniform);
          if (l == layer && h == 3)
            CHECK(scores(h) > 0.95);
          else
            CHECK(scores(h) < uniform + 0.3);
        }
      }
    }
}

TEST_CASE("a head that attends two positions back is no previous-token head", "[study][heads]") {
  const RandomGpt random(true, 3);
  plant(random.gpt, 0, 1, 2);
  const Indices tokens = {{0, 1, 2, 3, 4, 5, 6, 0}};
  const Array weights = capture_attention(random.gpt, tokens)[0].weights;
  CHECK(head_scores(previous, weights, tokens, true)(1) < 0.3);
}
