// head_kinds_test.cpp: heads of known kinds, on weights written by hand and planted in a model.

#include "heed/study/head_kinds.hpp"

#include <cmath>
#include <limits>

#include "catch.hpp"
#include "heed/study/heads.hpp"
#include "near.hpp"

using namespace heed;
using namespace heed::nn;
using heed::test::difference;

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

bool about(double a, double b) { return std::abs(a - b) < 1e-6; }

const Indices abab = {{0, 1, 0, 1}};

const Array causal_shares = {{1, 0, 0, 0},
                             {Real(0.75), Real(0.25), 0, 0},
                             {Real(0.25), Real(0.5), Real(0.25), 0},
                             {Real(0.125), Real(0.5), Real(0.25), Real(0.125)}};

// Head `head` of `layer` asks for the place `back` places before its own: its queries and keys are
// the place as a one-hot vector, which the position embeddings are made to be. T places, D = T.
void plant(const Gpt& model, std::size_t layer, std::size_t head, std::size_t back) {
  const std::size_t C = model.config.embed_dim, T = model.config.block_size;
  Tensor position = model.position.weight;  // (T, C)
  for (std::size_t t = 0; t < T; ++t) position.mutable_value()(t, t) = 3;
  Tensor query = model.blocks[layer].attention.query.weight;  // (C, C), rows are what comes out
  Tensor key = model.blocks[layer].attention.key.weight;
  for (std::size_t d = 0; d < T; ++d) {
    const std::size_t row = head * T + d;
    for (std::size_t c = 0; c < C; ++c)
      query.mutable_value()(row, c) = key.mutable_value()(row, c) = 0;
    key.mutable_value()(row, d) = 2;
    if (d + back < T) query.mutable_value()(row, d + back) = 2;
  }
}

struct RandomGpt {
  explicit RandomGpt(bool causal, std::uint64_t seed) : generator(seed), config(config_of(causal)) {
    for (const Block& block : model.blocks)
      for (Tensor weight : {block.attention.query.weight, block.attention.key.weight})
        weight.mutable_value() = generator.normal(weight.shape(), 0, 0.15);
  }
  static GptConfig config_of(bool causal) {
    GptConfig c;
    c.vocab_size = 7, c.block_size = 8, c.layers = 3, c.heads = 4, c.embed_dim = 32;
    c.causal = causal;
    return c;
  }

  Generator generator;
  GptConfig config;
  Parameters parameters;
  Gpt model{Scope(parameters, generator), config};
};

}  // namespace

TEST_CASE("scores of a causal head are means over the rows that can attend so", "[study][heads]") {
  CHECK(about(score(previous, causal_shares, abab), (0.75 + 0.5 + 0.25) / 3));
  CHECK(about(score(first, causal_shares, abab), (0.75 + 0.25 + 0.125) / 3));
  CHECK(about(score(same, causal_shares, abab), (0.25 + 0.5) / 2));  // rows 2 and 3 have one
}

TEST_CASE("a row may have several places of its own symbol", "[study][heads]") {
  CHECK(about(score(same, causal_shares, {{5, 5, 5, 7}}), (0.75 + (0.25 + 0.5)) / 2));
}

TEST_CASE("a head that sees all finds its symbol in later places too", "[study][heads]") {
  const Array shares = {{Real(0.5), Real(0.25), Real(0.25)},
                        {Real(0.125), Real(0.75), Real(0.125)},
                        {Real(0.5), Real(0.375), Real(0.125)}};
  const Indices aba = {{0, 1, 0}};
  CHECK(about(score(same, shares, aba, false), (0.25 + 0.5) / 2));
  CHECK(about(score(same, shares, aba, true), 0.5));  // row 0 sees only itself
  CHECK(about(score(previous, shares, aba, false), (0.125 + 0.375) / 2));
  CHECK(about(score(first, shares, aba, false), (0.125 + 0.5) / 2));
}

TEST_CASE("an even head scores what is said of it", "[study][heads]") {
  CHECK(about(uniform_score(previous, abab, true), (1.0 / 2 + 1.0 / 3 + 1.0 / 4) / 3));
  CHECK(about(uniform_score(first, abab, true), (1.0 / 2 + 1.0 / 3 + 1.0 / 4) / 3));
  CHECK(about(uniform_score(same, abab, true), (1.0 / 3 + 1.0 / 4) / 2));
  CHECK(about(uniform_score(previous, abab, false), 0.25));
  CHECK(about(uniform_score(same, abab, false), 0.25));
  CHECK(about(uniform_score(same, {{3, 3, 3, 1}}, false), 0.5));
}

TEST_CASE("heads and windows are kept apart", "[study][heads]") {
  Array weights = zeros({2, 2, 2, 2});   // row 1 of head 0 attends to the place before, of head 1
  for (std::size_t b = 0; b < 2; ++b) {  // to itself; row 0 of window 1's head 0, too
    weights(b, 0, 1, 0) = 1, weights(b, 1, 1, 1) = 1;
    for (std::size_t h = 0; h < 2; ++h) weights(b, h, 0, 0) = 1;
  }
  weights(1, 0, 1, 0) = Real(0.5), weights(1, 0, 1, 1) = Real(0.5);
  const Indices tokens = {{4, 4}, {4, 9}};
  CHECK(difference(head_scores(previous, weights, tokens, true), Array{Real(0.75), 0}) == "");
  CHECK(difference(head_scores(same, weights, tokens, true), Array{1, 0}) == "");  // window 0's
}

TEST_CASE("where no row can attend so, there is no score", "[study][heads]") {
  CHECK(std::isnan(score(same, causal_shares, {{0, 1, 2, 3}})));
  CHECK(std::isnan(uniform_score(same, {{0, 1, 2, 3}}, true)));
  const Indices one = heed::test::indices_of({1, 1}, {0});
  for (const HeadKind& kind : head_kinds()) CHECK(std::isnan(score(kind, ones({1, 1}), one)));
}

TEST_CASE("weights that do not belong to the tokens are refused", "[study][heads]") {
  CHECK_THROWS_WITH(head_scores(first, zeros({1, 2, 3, 3}), abab, true),
                    "head_scores: weights must be (B, H, T, T) and tokens (B, T), got (1, 2, 3, 3) "
                    "and (1, 4)");
  CHECK_THROWS_WITH(uniform_score(first, Indices{1, 2}, true),
                    "head_scores: weights must be (B, H, T, T) and tokens (B, T), got () and (2)");
}

TEST_CASE("a planted previous-token head is found among random ones", "[study][heads]") {
  for (const bool causal : {true, false})
    for (const std::size_t layer : {0u, 2u}) {
      const RandomGpt random(causal, 7 + layer);
      plant(random.model, layer, 3, 1);
      Indices tokens = Indices::from_shape({4, 8});
      for (std::size_t i = 0; i < tokens.size(); ++i)
        tokens.data()[i] = static_cast<std::int64_t>((i * i + 3 * i) % 7);
      const std::vector<LayerAttention> layers = capture_attention(random.model, tokens);
      const double even = uniform_score(previous, tokens, causal);
      for (std::size_t l = 0; l < layers.size(); ++l) {
        const Array scores = head_scores(previous, layers[l].weights, tokens, causal);
        for (std::size_t h = 0; h < 4; ++h) {
          INFO("layer " << l << ", head " << h << ": " << scores(h) << ", even: " << even);
          if (l == layer && h == 3)
            CHECK(scores(h) > 0.95);
          else
            CHECK(scores(h) < even + 0.3);
        }
      }
    }
}

TEST_CASE("a planted head that looks two places back is no previous-token head", "[study][heads]") {
  const RandomGpt random(true, 3);
  plant(random.model, 0, 1, 2);
  const Indices tokens = {{0, 1, 2, 3, 4, 5, 6, 0}};
  const Array weights = capture_attention(random.model, tokens)[0].weights;
  CHECK(head_scores(previous, weights, tokens, true)(1) < 0.3);
}
