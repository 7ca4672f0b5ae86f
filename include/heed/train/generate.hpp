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
  bool cache = true;         // keep keys and values; without, the same is written, only slower
};

// The symbols that follow `prompt` (at least one symbol; of a longer one, the last block_size
// count). The model sees a window of what was written. Within it, a new symbol costs no more than
// itself, since the keys and values of those before it are kept. But places are counted from the
// window's first symbol: drop that one, and every symbol is to be read again. So a full window
// loses its older half at once, and the newer one is read again in one pass: what the model sees is
// between half a block and a whole one, and each symbol is read twice. Without the cache, the
// window is read again in just these steps for every symbol, so that not even the last bit of a
// score can differ. each(symbol) is called as soon as one is chosen; when it returns false, writing
// ends. Throws Error for an empty prompt, a symbol outside the vocabulary, or a temperature that is
// negative or infinite.
std::vector<std::int64_t> generate(const nn::Gpt& model, const std::vector<std::int64_t>& prompt,
                                   const GenerateOptions& options, Generator& generator,
                                   const std::function<bool(std::int64_t)>& each = {});

}  // namespace heed
