// memory_test.cpp: the memory of a run, from its sizes.

#include "heed/train/memory.hpp"

#include <cmath>

#include "catch.hpp"

using heed::training_memory;

namespace {

heed::nn::GptConfig sized(std::size_t vocab, std::size_t block, std::size_t width) {
  heed::nn::GptConfig config;
  config.vocab_size = vocab;
  config.block_size = block;
  config.embed_dim = width;
  return config;
}

}  // namespace

TEST_CASE("weights are held five times: themselves, gradients, moments, and copies to save",
          "[train][memory]") {
  heed::nn::GptConfig config = sized(65, 48, 24);
  for (const bool bias : {false, true})
    for (const bool tied : {false, true}) {
      config.bias = bias;
      config.tied = tied;
      const auto count = static_cast<double>(heed::nn::parameter_count(config));
      CHECK(training_memory(config, {}).weights == 5 * sizeof(heed::Real) * count);
    }
}

TEST_CASE("a step's memory grows with the batch, and with the block squared under dropout",
          "[train][memory]") {
  heed::TrainOptions options, twice;
  twice.batch_size = 2 * options.batch_size;
  const heed::nn::GptConfig config = sized(65, 64, 32), longer = sized(65, 6400, 32);
  const auto step = [](const heed::nn::GptConfig& c, const heed::TrainOptions& o) {
    return training_memory(c, o).activations;
  };
  CHECK(step(config, twice) == 2 * step(config, options));
  CHECK(step(longer, options) == 100 * step(config, options));
  const double plain = step(longer, options);
  options.dropout = 0.1;
  CHECK(step(longer, options) > 20 * plain);
}

TEST_CASE("sizes that overflow whole numbers are large and finite", "[train][memory]") {
  heed::nn::GptConfig config = sized(1'000'000'000, 1'000'000'000, 1'000'000'000);
  config.layers = 1'000'000'000;
  heed::TrainOptions options;
  options.batch_size = 1'000'000'000;
  options.dropout = 0.5;
  CHECK(training_memory(config, options).total() > 1e30);
  CHECK(std::isfinite(training_memory(config, options).total()));
}
