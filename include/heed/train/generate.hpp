// generate.hpp: a model writes on, one symbol at a time.
#pragma once

#include <functional>
#include <vector>

#include "heed/nn/gpt.hpp"

namespace heed {

struct GenerateOptions {
  std::size_t tokens = 500;  // symbols to write
  double temperature = 1;    // scores are divided by it; 0 takes the likeliest symbol every time
  std::size_t top_k = 0;     // choose among the k likeliest only; 0 for all
};

// The symbols that follow `prompt` (at least one symbol; the model sees the last block_size of what
// there is). each(symbol) is called as soon as one is chosen; when it returns false, writing ends.
// Throws Error for an empty prompt, a symbol outside the vocabulary, or a temperature that is
// negative or infinite.
std::vector<std::int64_t> generate(const nn::Gpt& model, const std::vector<std::int64_t>& prompt,
                                   const GenerateOptions& options, Generator& generator,
                                   const std::function<bool(std::int64_t)>& each = {});

}  // namespace heed
