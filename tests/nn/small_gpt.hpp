// small_gpt.hpp: a model of five symbols, two layers and two heads, whose heads differ.
#pragma once

#include <cstdint>

#include "heed/nn/gpt.hpp"

namespace heed::test {

struct SmallGpt {
  SmallGpt(bool causal, std::uint64_t seed)
      : generator(seed), gpt(Scope(parameters, generator), of(causal)) {
    for (Tensor parameter : parameters)  // larger than usual, so that heads differ
      parameter.mutable_value() = generator.normal(parameter.shape(), 0, 0.5);
  }
  static nn::GptConfig of(bool causal) {
    nn::GptConfig config;
    config.vocab_size = 5, config.block_size = 6, config.layers = 2, config.heads = 2;
    config.embed_dim = 8, config.causal = causal;
    return config;
  }

  Parameters parameters;
  Generator generator;
  nn::Gpt gpt;
};

}  // namespace heed::test
