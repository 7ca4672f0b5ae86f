// generate.hpp: generates text with a GPT, one token at a time.
#pragma once

#include <functional>
#include <vector>

#include "heed/nn/gpt.hpp"

namespace HEED_NAMESPACE {

struct GenerateOptions {
  std::size_t tokens = 500;  // number of tokens to generate
  double temperature = 1;    // divides the logits; 0: always the most likely token
  std::size_t top_k = 0;     // sample from the k most likely tokens; 0: from all
  bool cache = true;         // use a key-value cache; the tokens are the same without, only slower
};

// Returns the tokens generated after `prompt`, of which only the last block_size tokens count. The
// model sees a window of the text, of at most block_size tokens. The key-value cache lets each
// new token be computed alone. But positions are counted from the window's first token, so when
// that one is dropped, the whole window must be computed again. A full window therefore drops its
// older half at once and computes the newer half again in one pass: the window has between half a
// block and a whole block, and each token is computed about twice. Without the cache, the window is
// computed again in the same passes for every token, so the logits are equal bit for bit.
// Calls each(token) for every new token; generation stops when it returns false. Throws Error for
// an empty prompt, a token outside the vocabulary, or a temperature that is negative or not finite.
std::vector<std::int64_t> generate(const nn::Gpt& model, const std::vector<std::int64_t>& prompt,
                                   const GenerateOptions& options, Generator& generator,
                                   const std::function<bool(std::int64_t)>& each = {});

}  // namespace HEED_NAMESPACE
