// memory_test.cpp: tests of the memory estimate of a training run.

#include <cmath>

#include "catch.hpp"
#include "heed/train/training_memory.hpp"
#include "small_model.hpp"

using heed::training_memory;
using heed::test::small_config;

TEST_CASE("the memory of weights is five times their number: gradients, moments and copies",
          "[train][memory]") {
  heed::nn::GptConfig config = small_config(65, {48, 24, 4, 4});
  for (const bool bias : {false, true})
    for (const bool tied : {false, true}) {
      config.bias = bias;
      config.tied = tied;
      for (const heed::nn::GptConfig& c : {config, heed::test::llama_like(config)}) {
        const auto count = static_cast<double>(heed::nn::parameter_count(c));
        CHECK(training_memory(c, {}).parameters_and_state == 5 * sizeof(heed::Real) * count);
      }
    }
}

TEST_CASE("activations grow linearly with the batch, and with dropout quadratically with the block",
          "[train][memory]") {
  heed::TrainOptions options, twice;
  twice.batch_size = 2 * options.batch_size;
  const heed::nn::GptConfig config = small_config(65, {64, 32, 4, 4}),
                            longer = small_config(65, {6400, 32, 4, 4});
  const auto step = [](const heed::nn::GptConfig& c, const heed::TrainOptions& o) {
    return training_memory(c, o).activations;
  };
  CHECK(step(config, twice) == 2 * step(config, options));
  CHECK(step(longer, options) == 100 * step(config, options));
  const double plain = step(longer, options);
  options.dropout = 0.1;
  CHECK(step(longer, options) > 20 * plain);
}

TEST_CASE("the estimate of very large sizes is finite", "[train][memory]") {
  heed::nn::GptConfig config =
      small_config(1'000'000'000, {1'000'000'000, 1'000'000'000, 1'000'000'000, 4});
  heed::TrainOptions options;
  options.batch_size = 1'000'000'000;
  options.dropout = 0.5;
  CHECK(training_memory(config, options).total() > 1e30);
  CHECK(std::isfinite(training_memory(config, options).total()));
  config = heed::test::llama_like(config);
  CHECK(training_memory(config, options).total() > 1e30);
  CHECK(std::isfinite(training_memory(config, options).total()));
}
