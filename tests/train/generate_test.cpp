// generate_test.cpp: tests of generate: temperature, top_k, the cache, and errors.

#include "heed/train/generate.hpp"

#include <algorithm>
#include <limits>

#include "catch.hpp"
#include "heed/array/array.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "small_model.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using Tokens = std::vector<std::int64_t>;

struct Writer : SmallModel {
  explicit Writer(std::size_t block_size = 6) : SmallModel(small_config(11, {block_size, 8})) {
    for (Tensor parameter : parameters)  // large, so that the probabilities of tokens differ
      parameter.mutable_value() *= 20;
  }
  Tokens write(const Tokens& prompt, const GenerateOptions& options, std::uint64_t seed = 1) const {
    Generator draws(seed);
    return generate(gpt, prompt, options, draws);
  }
};

GenerateOptions with(std::size_t tokens, double temperature = 1, std::size_t top_k = 0) {
  GenerateOptions options;
  options.tokens = tokens;
  options.temperature = temperature;
  options.top_k = top_k;
  return options;
}

// The most likely token after the last T tokens of a text.
std::int64_t most_likely(const nn::Gpt& gpt, const Tokens& text, std::size_t T) {
  const Indices window = indices_of({1, T}, Tokens(text.end() - static_cast<long>(T), text.end()));
  return argmax(select(select(gpt(window), 0, 0), 0, -1), 0)(0);
}

}  // namespace

TEST_CASE("texts generated together are those generated one by one", "[train][generate]") {
  const Writer writer;
  for (const bool cache : {true, false}) {
    GenerateOptions options = with(40, 1, 5);
    options.cache = cache;
    std::vector<Generator> generators;
    for (std::uint64_t seed = 7; seed < 12; ++seed) generators.emplace_back(seed);
    const auto texts = generate(writer.gpt, {3, 1}, options, generators);
    REQUIRE(texts.size() == 5);
    for (std::size_t i = 0; i < texts.size(); ++i)
      CHECK(texts[i] == writer.write({3, 1}, options, 7 + i));
    CHECK(texts[0] != texts[1]);
  }
}

TEST_CASE("at temperature 0 every token is the most likely one for its window",
          "[train][generate]") {
  for (const std::size_t block : {1u, 2u, 5u, 6u}) {
    const Writer writer(block);
    const Tokens prompt{3, 1}, written = writer.write(prompt, with(20, 0));
    Tokens text = prompt;
    std::size_t window = std::min<std::size_t>(2, block);
    for (const std::int64_t token : written) {
      CHECK(token == most_likely(writer.gpt, text, window));
      text.push_back(token);
      window = window == block ? block / 2 + 1 : window + 1;  // a full window drops its older half
    }
    CHECK(written.size() == 20);
    CHECK(writer.write(prompt, with(20, 0), 99) == written);  // for any seed
  }
}

TEST_CASE("the same tokens are generated with the cache and without", "[train][generate]") {
  for (const std::size_t block : {1u, 2u, 3u, 6u, 16u}) {
    const Writer writer(block);
    for (const double temperature : {0.0, 0.7, 3.0})
      for (const std::size_t top_k : {0u, 3u})
        for (const std::uint64_t seed : {1u, 2u, 3u}) {
          GenerateOptions options = with(50, temperature, top_k);
          const Tokens prompt(static_cast<std::size_t>(seed) * 7 - 6, 4);  // 1, 8 or 15 tokens
          const Tokens cached = writer.write(prompt, options, seed);
          options.cache = false;
          CHECK(writer.write(prompt, options, seed) == cached);
        }
  }
}

TEST_CASE("top_k 1 generates the same as temperature 0", "[train][generate]") {
  const Writer writer;
  CHECK(writer.write({3, 1}, with(20, 1, 1)) == writer.write({3, 1}, with(20, 0)));
  CHECK(writer.write({3, 1}, with(20, 5, 1), 7) == writer.write({3, 1}, with(20, 0)));
}

TEST_CASE("very low temperatures generate the same as temperature 0, high ones do not",
          "[train][generate]") {
  const Writer writer;
  CHECK(writer.write({3, 1}, with(20, 1e-6)) == writer.write({3, 1}, with(20, 0)));
  CHECK(writer.write({3, 1}, with(20, 1e-300)) == writer.write({3, 1}, with(20, 0)));
  CHECK(writer.write({3, 1}, with(40, 100)) != writer.write({3, 1}, with(40, 0)));
}

TEST_CASE("the seed determines the generated tokens", "[train][generate]") {
  const Writer writer;
  const Tokens one = writer.write({0}, with(40, 3));
  CHECK(writer.write({0}, with(40, 3)) == one);
  CHECK(writer.write({0}, with(40, 3), 2) != one);
  for (const std::int64_t token : one) CHECK((token >= 0 && token < 11));
}

TEST_CASE("top_k samples only from the k most likely tokens", "[train][generate]") {
  const Writer writer;
  const Tensor logits = select(select(writer.gpt(indices_of({1, 1}, {4})), 0, 0), 0, -1);
  std::vector<Real> sorted(logits.value().begin(), logits.value().end());
  std::sort(sorted.rbegin(), sorted.rend());
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Tokens first = writer.write({4}, with(1, 50, 3), seed);
    CHECK(logits.value()(static_cast<std::size_t>(first[0])) >= sorted[2]);
  }
  CHECK(writer.write({4}, with(20, 2, 11)) == writer.write({4}, with(20, 2)));
  CHECK(writer.write({4}, with(20, 2, 100)) == writer.write({4}, with(20, 2)));
}

TEST_CASE("only the last block_size tokens of a prompt count", "[train][generate]") {
  const Writer writer;
  const Tokens end{1, 2, 3, 4, 5, 6};
  Tokens longer{9, 9, 9};
  longer.insert(longer.end(), end.begin(), end.end());
  CHECK(writer.write(longer, with(10, 0)) == writer.write(end, with(10, 0)));
}

TEST_CASE("the callback gets each token and can stop the generation", "[train][generate]") {
  const Writer writer;
  Generator generator(1);
  Tokens received;
  const Tokens written = generate(writer.gpt, {3}, with(20), generator, [&](std::int64_t token) {
    received.push_back(token);
    return received.size() < 5;
  });
  CHECK(received.size() == 5);
  CHECK(written == received);
  CHECK(writer.write({3}, with(0)).empty());
}

TEST_CASE("a callback can stop the generation of any number of tokens", "[train][generate]") {
  const Writer writer;
  const std::size_t largest = std::numeric_limits<std::size_t>::max();
  for (const std::size_t tokens : {largest, largest - 1, largest - 7}) {
    Generator generator(1);
    std::size_t calls = 0;
    const Tokens written = generate(writer.gpt, {3, 1}, with(tokens), generator,
                                    [&](std::int64_t) { return ++calls < 20; });
    CHECK(written == writer.write({3, 1}, with(20)));
  }
}

TEST_CASE("a prompt takes the memory of the logits of its last position", "[train][generate]") {
  const SmallModel model(small_config(5000, {64, 8}));
  Generator draws(1);
  const std::size_t before = allocated_bytes();
  reset_peak_bytes();
  generate(model.gpt, Tokens(64, 3), with(1, 0), draws);
  CHECK(peak_allocated_bytes() - before < 64 * 5000 * sizeof(Real) / 4);
}

TEST_CASE("generation records no graph and leaves no nodes", "[train][generate]") {
  const Writer writer;
  const std::size_t before = live_nodes();
  writer.write({3}, with(10));
  CHECK(live_nodes() == before);
  CHECK(grad_enabled());
}

TEST_CASE("generate throws for invalid prompts and options", "[train][generate]") {
  const Writer writer;
  CHECK(message_of([&] { writer.write({}, with(5)); }) ==
        "generate: the prompt is empty; give at least one token");
  CHECK(message_of([&] { writer.write({1}, with(5, -1)); }) ==
        "generate: temperature -1 must be 0 or more, and finite");
  CHECK(message_of([&] { writer.write({1}, with(5, not_a_number)); }) ==
        "generate: temperature nan must be 0 or more, and finite");
  CHECK(message_of([&] { writer.write({1}, with(5, infinity)); }) ==
        "generate: temperature inf must be 0 or more, and finite");
  CHECK(message_of([&] {
          writer.write({1, 11}, with(5));
        }) == "generate: token 11 of the prompt is outside the vocabulary, 0 to 10");
  CHECK(message_of([&] {
          writer.write({-1, 1, 1, 1, 1, 1, 1}, with(0));
        }) == "generate: token -1 of the prompt is outside the vocabulary, 0 to 10");
}
