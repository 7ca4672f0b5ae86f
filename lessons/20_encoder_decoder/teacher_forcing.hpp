// teacher_forcing.hpp: the tokens and the model of exercise 20.
#pragma once

#include <vector>

#include "heed/heed.hpp"
#include "heed/nn/encoder_decoder.hpp"

namespace heed {

using Tokens = std::vector<std::int64_t>;

constexpr std::int64_t padding = 7, start = 4, stop = 9;  // the other tokens are words
constexpr std::size_t V = 12;                             // the number of tokens

// An encoder-decoder with sinusoidal positions.
struct Model {
  Model(const Scope& scope, std::size_t layers, std::size_t width, std::size_t heads)
      : token(scope / "token", V, width),
        encoder(scope / "encoder", layers, width, heads),
        decoder(scope / "decoder", layers, width, heads),
        head(scope / "head", width, V) {}

  Tensor embed(const Indices& tokens) const {  // (B, T) -> (B, T, C)
    const Tensor embedded = token(tokens);
    return embedded + nn::sinusoidal_positions(tokens.shape(1), embedded.shape()[2]);
  }

  nn::Embedding token;
  nn::Encoder encoder;  // (x, mask) -> memory
  nn::Decoder decoder;  // (x, memory, mask of the self-attention, mask of the cross-attention)
  nn::Linear head;      // (..., C) -> (..., V)
};

}  // namespace heed
