// generate_test.cpp: what a model writes, and when it takes the likeliest symbol.

#include "heed/train/generate.hpp"

#include <algorithm>

#include "catch.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using Text = std::vector<std::int64_t>;

struct Writer {
  explicit Writer(std::size_t block_size = 6)
      : random(1337), gpt(Scope(parameters, random), config(block_size)) {
    for (Tensor parameter : parameters)  // far from even, so that symbols differ in likelihood
      parameter.mutable_value() *= 20;
  }
  static nn::GptConfig config(std::size_t block_size) {
    nn::GptConfig c;
    c.vocab_size = 11;
    c.block_size = block_size;
    c.layers = 2;
    c.heads = 2;
    c.embed_dim = 8;
    return c;
  }
  Text write(const Text& prompt, const GenerateOptions& options, std::uint64_t seed = 1) const {
    Generator generator(seed);
    return generate(gpt, prompt, options, generator);
  }
  Parameters parameters;
  Generator random;
  nn::Gpt gpt;
};

GenerateOptions with(std::size_t tokens, double temperature = 1, std::size_t top_k = 0) {
  GenerateOptions options;
  options.tokens = tokens;
  options.temperature = temperature;
  options.top_k = top_k;
  return options;
}

// The likeliest symbol after the last T of a text.
std::int64_t likeliest(const nn::Gpt& gpt, const Text& text, std::size_t T) {
  const Indices window = indices_of({1, T}, Text(text.end() - static_cast<long>(T), text.end()));
  return argmax(select(select(gpt(window), 0, 0), 0, -1), 0)(0);
}

}  // namespace

TEST_CASE("at temperature 0 every symbol is the likeliest of the window", "[train][generate]") {
  for (const std::size_t block : {1u, 2u, 5u, 6u}) {
    const Writer writer(block);
    const Text prompt{3, 1}, written = writer.write(prompt, with(20, 0));
    Text text = prompt;
    std::size_t window = std::min<std::size_t>(2, block);
    for (const std::int64_t symbol : written) {
      CHECK(symbol == likeliest(writer.gpt, text, window));
      text.push_back(symbol);
      window = window == block ? block / 2 + 1 : window + 1;  // full: its newer half, and one more
    }
    CHECK(written.size() == 20);
    CHECK(writer.write(prompt, with(20, 0), 99) == written);  // whatever the seed
  }
}

TEST_CASE("with the cache or without, the same symbols are written", "[train][generate]") {
  for (const std::size_t block : {1u, 2u, 3u, 6u, 16u}) {
    const Writer writer(block);
    for (const double temperature : {0.0, 0.7, 3.0})
      for (const std::size_t top_k : {0u, 3u})
        for (const std::uint64_t seed : {1u, 2u, 3u}) {
          GenerateOptions options = with(50, temperature, top_k);
          const Text prompt(static_cast<std::size_t>(seed) * 7 - 6, 4);  // of 1, 8 or 15 symbols
          const Text kept = writer.write(prompt, options, seed);
          options.cache = false;
          CHECK(writer.write(prompt, options, seed) == kept);
        }
  }
}

TEST_CASE("the one likeliest symbol of top_k 1 is temperature 0's", "[train][generate]") {
  const Writer writer;
  CHECK(writer.write({3, 1}, with(20, 1, 1)) == writer.write({3, 1}, with(20, 0)));
  CHECK(writer.write({3, 1}, with(20, 5, 1), 7) == writer.write({3, 1}, with(20, 0)));
}

TEST_CASE("low temperatures come near to it, high ones wander", "[train][generate]") {
  const Writer writer;
  CHECK(writer.write({3, 1}, with(20, 1e-6)) == writer.write({3, 1}, with(20, 0)));
  CHECK(writer.write({3, 1}, with(20, 1e-300)) == writer.write({3, 1}, with(20, 0)));
  CHECK(writer.write({3, 1}, with(40, 100)) != writer.write({3, 1}, with(40, 0)));
}

TEST_CASE("the same seed writes the same, another seed something else", "[train][generate]") {
  const Writer writer;
  const Text one = writer.write({0}, with(40, 3));
  CHECK(writer.write({0}, with(40, 3)) == one);
  CHECK(writer.write({0}, with(40, 3), 2) != one);
  for (const std::int64_t symbol : one) CHECK((symbol >= 0 && symbol < 11));
}

TEST_CASE("top_k keeps to the k likeliest, and all of them are the whole", "[train][generate]") {
  const Writer writer;
  const Tensor scores = select(select(writer.gpt(indices_of({1, 1}, {4})), 0, 0), 0, -1);
  std::vector<Real> sorted(scores.value().begin(), scores.value().end());
  std::sort(sorted.rbegin(), sorted.rend());
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Text first = writer.write({4}, with(1, 50, 3), seed);
    CHECK(scores.value()(static_cast<std::size_t>(first[0])) >= sorted[2]);
  }
  CHECK(writer.write({4}, with(20, 2, 11)) == writer.write({4}, with(20, 2)));
  CHECK(writer.write({4}, with(20, 2, 100)) == writer.write({4}, with(20, 2)));
}

TEST_CASE("a prompt longer than the window is seen by its end only", "[train][generate]") {
  const Writer writer;
  const Text end{1, 2, 3, 4, 5, 6};
  Text longer{9, 9, 9};
  longer.insert(longer.end(), end.begin(), end.end());
  CHECK(writer.write(longer, with(10, 0)) == writer.write(end, with(10, 0)));
}

TEST_CASE("each symbol is told as soon as it is chosen, and can be the last", "[train][generate]") {
  const Writer writer;
  Generator generator(1);
  Text told;
  const Text written = generate(writer.gpt, {3}, with(20), generator, [&](std::int64_t symbol) {
    told.push_back(symbol);
    return told.size() < 5;
  });
  CHECK(told.size() == 5);
  CHECK(written == told);
  CHECK(writer.write({3}, with(0)).empty());
}

TEST_CASE("writing links nothing and leaves nothing", "[train][generate]") {
  const Writer writer;
  const std::size_t before = live_nodes();
  writer.write({3}, with(10));
  CHECK(live_nodes() == before);
  CHECK(grad_enabled());
}

TEST_CASE("prompts and options that make no sense are refused", "[train][generate]") {
  const Writer writer;
  CHECK(message_of([&] { writer.write({}, with(5)); }) ==
        "generate: the prompt is empty; begin with at least one symbol");
  CHECK(message_of([&] { writer.write({1}, with(5, -1)); }) ==
        "generate: temperature -1 must be 0 or more, and finite");
  CHECK(message_of([&] { writer.write({1}, with(5, not_a_number)); }) ==
        "generate: temperature nan must be 0 or more, and finite");
  CHECK(message_of([&] { writer.write({1}, with(5, infinity)); }) ==
        "generate: temperature inf must be 0 or more, and finite");
  CHECK(message_of([&] {
          writer.write({1, 11}, with(5));
        }) == "generate: symbol 11 of the prompt is outside the vocabulary, 0 to 10");
  CHECK(message_of([&] {
          writer.write({-1, 1, 1, 1, 1, 1, 1}, with(0));
        }) == "generate: symbol -1 of the prompt is outside the vocabulary, 0 to 10");
}
