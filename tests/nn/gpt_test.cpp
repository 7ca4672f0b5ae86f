// gpt_test.cpp: tests of Gpt: initial loss, parameters, causality and the key-value cache.

#include "heed/nn/gpt.hpp"

#include <cmath>
#include <limits>

#include "catch.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "small_model.hpp"

namespace {

using namespace heed;
using namespace heed::test;

nn::GptConfig small(bool bias = false, bool tied = true) {
  nn::GptConfig config = small_config(65, {16, 32, 3});
  config.bias = bias;
  config.tied = tied;
  return config;
}

using Model = SmallModel;

Indices some_tokens(std::size_t B, std::size_t T, std::uint64_t seed = 1) {
  return Generator(seed).randint(0, 65, {B, T});
}

double standard_deviation(const Array& x) {
  return std::sqrt(static_cast<double>(variance(Tensor(x), {}, false).item()));
}

}  // namespace

TEST_CASE("the loss of an untrained model is near ln V", "[nn][gpt]") {
  for (const bool tied : {true, false}) {
    const Model model(small(false, tied));
    const double loss =
        static_cast<double>(model.gpt.loss(some_tokens(8, 16), some_tokens(8, 16, 2)).item());
    CHECK(std::abs(loss / std::log(65.0) - 1) < 0.03);
  }
}

TEST_CASE("parameter_count equals the number of parameters of the model", "[nn][gpt]") {
  for (const bool bias : {false, true})
    for (const bool tied : {false, true}) {
      const nn::GptConfig config = small(bias, tied);
      CHECK(nn::parameter_count(config) == Model(config).parameters.count());
    }
  nn::GptConfig reference;
  reference.vocab_size = 65;
  CHECK(nn::parameter_count(reference) == 804096);
}

TEST_CASE("the four sizes of GPT-2 have the published numbers of parameters", "[nn][gpt]") {
  const auto count = [](std::size_t layers, std::size_t embed_dim) {
    nn::GptConfig config = small_config(50257, {1024, embed_dim, layers, embed_dim / 64});
    config.bias = true;
    return nn::parameter_count(config);
  };
  CHECK(count(12, 768) == 124439808);
  CHECK(count(24, 1024) == 354823168);
  CHECK(count(36, 1280) == 774030080);
  CHECK(count(48, 1600) == 1557611200);
}

TEST_CASE("the names and shapes of the parameters of a model", "[nn][gpt]") {
  nn::GptConfig config = small();
  config.layers = 1;
  std::string names;
  for (const Tensor& p : Model(config).parameters) names += p.name() + " " + str(p.shape()) + "\n";
  CHECK(names ==
        "token.weight (65, 32)\n"
        "position.weight (16, 32)\n"
        "blocks.0.norm1.weight (32)\n"
        "blocks.0.attention.query.weight (32, 32)\n"
        "blocks.0.attention.key.weight (32, 32)\n"
        "blocks.0.attention.value.weight (32, 32)\n"
        "blocks.0.attention.out.weight (32, 32)\n"
        "blocks.0.norm2.weight (32)\n"
        "blocks.0.mlp.up.weight (128, 32)\n"
        "blocks.0.mlp.down.weight (32, 128)\n"
        "norm.weight (32)\n");
  CHECK(Model(small(false, false)).parameters.find("head.weight") != nullptr);
}

TEST_CASE("initial weights have the standard deviation of GPT-2", "[nn][gpt]") {
  const Model model(small(true));
  for (const Tensor& p : model.parameters) {
    const bool ends_residual = p.name().find("attention.out.weight") != std::string::npos ||
                               p.name().find("mlp.down.weight") != std::string::npos;
    if (p.dim() == 2)
      CHECK(
          std::abs(standard_deviation(p.value()) / (ends_residual ? 0.02 / std::sqrt(6.0) : 0.02) -
                   1) < 0.1);
    else
      CHECK((p.value() == filled(p.shape(), p.name().find("bias") == std::string::npos ? 1 : 0)));
  }
}

TEST_CASE("a model does not change other parameters in its store", "[nn][gpt]") {
  Parameters store;
  Generator generator(1);
  const Scope scope(store, generator);
  const nn::Linear other(scope / "other", 4, 4);
  const Array weight = other.weight.value(), bias = other.bias.value();
  const nn::Gpt gpt(scope / "gpt", small());
  CHECK((other.weight.value() == weight));
  CHECK((other.bias.value() == bias));
  CHECK(store.at("gpt.token.weight").node() == gpt.head.node());
}

TEST_CASE("a tied model uses the token embedding as output weight", "[nn][gpt]") {
  const Model tied(small()), untied(small(false, false));
  CHECK(tied.gpt.head.node() == tied.gpt.token.weight.node());
  CHECK(untied.gpt.head.node() != untied.gpt.token.weight.node());
  backward(tied.gpt.loss(some_tokens(1, 4), some_tokens(1, 4, 2)));
  for (const Tensor& p : tied.parameters) CHECK(p.has_grad());
}

TEST_CASE("changing the last token changes no bit of earlier logits", "[nn][gpt]") {
  const Model model(small());
  Indices tokens = some_tokens(2, 16);
  const Tensor before = slice(model.gpt(tokens), 1, 0, 15);
  for (std::size_t b = 0; b < 2; ++b) tokens(b, 15) = (tokens(b, 15) + 1) % 65;
  const Tensor logits = model.gpt(tokens);
  CHECK(same_bits(slice(logits, 1, 0, 15).value(), before.value()));
}

TEST_CASE("changing the first token changes the logits at all positions", "[nn][gpt]") {
  const Model model(small());
  Indices tokens = some_tokens(1, 16);
  const Array before = model.gpt(tokens).value();
  tokens(0, 0) = (tokens(0, 0) + 1) % 65;
  const Array after = model.gpt(tokens).value();
  for (std::size_t t = 0; t < 16; ++t) CHECK(before(0, t, 3) != after(0, t, 3));
}

TEST_CASE("the windows of a batch do not affect each other", "[nn][gpt]") {
  const Model model(small());
  Indices tokens = some_tokens(3, 16);
  const Tensor before = model.gpt(tokens);
  for (std::size_t t = 0; t < 16; ++t) tokens(1, t) = 0;
  const Tensor after = model.gpt(tokens);
  CHECK(same_bits(select(before, 0, 0).value(), select(after, 0, 0).value()));
  CHECK(same_bits(select(before, 0, 2).value(), select(after, 0, 2).value()));
}

TEST_CASE("the seed determines the model", "[nn][gpt]") {
  const Indices tokens = some_tokens(2, 8);
  const Array logits = Model(small()).gpt(tokens).value();
  CHECK(same_bits(logits, Model(small()).gpt(tokens).value()));
  CHECK_FALSE(same_bits(logits, Model(small(), 1).gpt(tokens).value()));
}

TEST_CASE("a model accepts windows up to block_size and throws for longer ones", "[nn][gpt]") {
  const Model model(small());
  CHECK(str(model.gpt(some_tokens(2, 1)).shape()) == "(2, 1, 65)");
  CHECK(str(model.gpt(some_tokens(1, 16)).shape()) == "(1, 16, 65)");
  CHECK(message_of([&] { model.gpt(some_tokens(1, 17)); }) ==
        "Gpt: a window of 17 tokens is longer than block_size 16");
  CHECK(message_of([&] {
          model.gpt(indices_of({3}, {1, 2, 3}));
        }) == "Gpt: tokens must be (B, T), got (3)");
  CHECK(message_of([&] {
          model.gpt(indices_of({1, 2}, {1, 65}));
        }) == "embedding: index 65 among (1, 2) indices is out of range for token.weight (65, 32)");
}

TEST_CASE("an empty cache changes no bit of the logits of a window", "[nn][cache]") {
  const Model model(small(true));
  const Indices tokens = some_tokens(1, 16);
  nn::GptCache cache(small());
  CHECK(same_bits(model.gpt(tokens, cache).value(), model.gpt(tokens).value()));
  CHECK(cache.size() == 16);
}

TEST_CASE("with a cache, tokens in any number of passes have the logits of the whole window",
          "[nn][cache]") {
  for (const bool bias : {false, true}) {
    const Model model(small(bias, !bias));
    for (Tensor p : model.parameters) p.mutable_value() *= 3;  // sharper attention
    const Indices tokens = some_tokens(1, 16);
    const Tensor expected = model.gpt(tokens);
    for (const std::vector<int>& parts : {std::vector<int>(16, 1), {5, 1, 1, 9}, {15, 1}}) {
      nn::GptCache cache(small());
      int begin = 0;
      for (const int T : parts) {
        Indices part = Indices::from_shape({1, static_cast<std::size_t>(T)});
        std::copy_n(tokens.data() + begin, T, part.data());
        const Tensor logits = model.gpt(part, cache);
        CHECK(difference(logits, slice(expected, 1, begin, begin + T).value(), 1e-5) == "");
        begin += T;
      }
    }
  }
}

TEST_CASE("with a cache no graph is recorded, also outside NoGrad", "[nn][cache]") {
  const Model model(small());
  nn::GptCache cache(small());
  const std::size_t before = live_nodes();
  CHECK_FALSE(model.gpt(some_tokens(1, 3), cache).requires_grad());
  CHECK(live_nodes() == before);
  CHECK(grad_enabled());
}

TEST_CASE("a full cache, the cache of another model, and a cache without NoGrad throw",
          "[nn][cache]") {
  const Model model(small());
  nn::GptCache cache(small());
  model.gpt(some_tokens(1, 15), cache);
  CHECK(message_of([&] { model.gpt(some_tokens(1, 2), cache); }) ==
        "Gpt: a window of 17 tokens is longer than block_size 16");
  CHECK(message_of([&] { model.gpt(some_tokens(2, 1), cache); }) ==
        "MultiHeadAttention: x (2, 1, 32) does not fit after the 15 positions of a cache (1, 16, "
        "32)");
  CHECK(cache.size() == 15);  // unchanged
  nn::GptConfig other = small();
  other.layers = 2;
  nn::GptCache shallow(other);
  CHECK(message_of([&] { model.gpt(some_tokens(1, 1), shallow); }) ==
        "Gpt: the cache has 2 blocks, the model 3");
  other = small();
  other.block_size = 2;
  nn::GptCache small_cache(other);
  CHECK(
      message_of([&] { model.gpt(some_tokens(1, 3), small_cache); }) ==
      "MultiHeadAttention: x (1, 3, 32) does not fit after the 0 positions of a cache (1, 2, 32)");
  const Tensor x(zeros({1, 1, 32}));
  CHECK(message_of([&] { model.gpt.blocks[0](x, cache.blocks[0]); }) ==
        "MultiHeadAttention: gradients cannot pass through a cache; use NoGrad");
}

TEST_CASE("invalid configurations throw", "[nn][gpt]") {
  const auto rejected = [](std::size_t nn::GptConfig::*member, std::size_t value) {
    nn::GptConfig config = small();
    config.*member = value;
    return message_of([&] { Model{config}; });
  };
  CHECK(rejected(&nn::GptConfig::vocab_size, 0) == "Gpt: vocab_size is 0; it must be at least 1");
  CHECK(rejected(&nn::GptConfig::block_size, 0) == "Gpt: block_size is 0; it must be at least 1");
  CHECK(rejected(&nn::GptConfig::layers, 0) == "Gpt: layers is 0; it must be at least 1");
  CHECK(rejected(&nn::GptConfig::heads, 0) == "Gpt: heads is 0; it must be at least 1");
  CHECK(rejected(&nn::GptConfig::embed_dim, 0) == "Gpt: embed_dim is 0; it must be at least 1");
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / 2;
  for (const auto size : {&nn::GptConfig::vocab_size, &nn::GptConfig::block_size,
                          &nn::GptConfig::layers, &nn::GptConfig::embed_dim})
    CHECK(rejected(size, most).find(" give more than 1e13 parameters") != std::string::npos);
  CHECK(rejected(&nn::GptConfig::heads, 5) == "Gpt: embed_dim 32 must be divisible by heads 5");
}

TEST_CASE("embed rejects a first position beyond the block size", "[nn][gpt]") {
  const SmallModel small(small_config(5, {6, 8}), 3);
  CHECK(message_of([&] {
          small.gpt.embed(indices_of({1, 1}, {1}), std::size_t(-1));
        }) ==
        "Gpt: position -1 is beyond block_size " + std::to_string(small.gpt.config.block_size));
}
