// generate.hpp: generates text with a GPT, one token at a time.
#pragma once

#include <functional>
#include <vector>

#include "heed/nn/gpt.hpp"

namespace HEED_NAMESPACE {

// Options of generate().
struct GenerateOptions {
  std::size_t tokens = 500;  // number of tokens to generate
  double temperature = 1;    // divisor of the logits; 0 selects the most likely token
  std::size_t top_k = 0;     // sample from the top_k most likely tokens; 0: from all tokens
  bool cache = true;         // use a key-value cache, which gives the same tokens in less time
};

// Returns the tokens generated after `prompt`. The model's input is a window: the last tokens of
// the text (prompt and generated tokens), at most block_size. With the key-value cache, each step
// processes only the new token. Positions are counted from the window's first token, so when that
// token is dropped, the whole window must be processed again. When the window is full, its older
// half is dropped at once, and its newer half is processed again in one forward pass. After that,
// the window has between block_size / 2 and block_size tokens, and each token is processed about
// twice. Without the cache, every step processes the whole window again, in the same forward passes
// as with the cache, so that the logits are bit-identical. Calls each(token) for every new token;
// generation stops when each() returns false. Throws Error for an empty prompt, a token outside the
// vocabulary, a temperature that is negative or not finite, or logits that are not finite.
std::vector<std::int64_t> generate(const nn::Gpt& model, const std::vector<std::int64_t>& prompt,
                                   const GenerateOptions& options, Generator& generator,
                                   const std::function<bool(std::int64_t)>& each = {});

// Like generate(), for one text per generator, all after the same prompt. Each step computes the
// next tokens of all texts in one forward pass, which reads the weights once and is therefore
// faster than one text after another. Text b has the tokens that generate() would draw with
// generators[b], except where the rounding of larger matrix products changes a choice.
std::vector<std::vector<std::int64_t>> generate(const nn::Gpt& model,
                                                const std::vector<std::int64_t>& prompt,
                                                const GenerateOptions& options,
                                                std::vector<Generator>& generators);

}  // namespace HEED_NAMESPACE
