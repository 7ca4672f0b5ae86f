// generate.cpp: text generation: a sliding window with a key-value cache, and token sampling.

#include "heed/train/generate.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "array/reduce.hpp"
#include "heed/base/error.hpp"
#include "heed/ops/shape.hpp"

namespace HEED_NAMESPACE {
namespace {

using Tokens = std::vector<std::int64_t>;

// Runs the model on growing texts of equal length, through a sliding window of at most block_size
// tokens.
class WindowedDecoder {
 public:
  // The texts get at most `max_size` tokens.
  WindowedDecoder(const nn::Gpt& model, bool use_cache, std::size_t batch, std::size_t prompt_size,
                  std::size_t max_size)
      : model_(model),
        use_cache_(use_cache),
        batch_(batch),
        begin_(prompt_size - std::min(prompt_size, block())),
        first_pass_end_(prompt_size),
        max_size_(max_size) {}

  // The logits (B, V) of the tokens after the B texts. The texts are the prompt in the first call,
  // and must be one token longer in each further call.
  Array next_logits(const std::vector<Tokens>& texts) {
    const std::size_t size = texts[0].size();
    if (size - begin_ > block()) {  // the window is full: drop its older half
      begin_ += block() - block() / 2;
      first_pass_end_ = size;
      cache_ = new_cache();
    }
    if (!use_cache_) cache_ = new_cache();
    Array logits;
    if (cache_.size() == 0) logits = forward(texts, first_pass_end_);
    while (begin_ + cache_.size() < size) logits = forward(texts, begin_ + cache_.size() + 1);
    return logits;
  }

 private:
  std::size_t block() const { return model_.config.block_size; }
  // An empty cache for as many positions as the window can have: at GPT-2's sizes, each takes 73
  // kB.
  nn::GptCache new_cache() const {
    nn::GptConfig config = model_.config;
    config.block_size = std::min(block(), max_size_);
    return nn::GptCache(config, batch_);
  }

  // Runs the model once, on the tokens that are not cached and whose index is below `end`. Returns
  // the logits (B, V) of the last tokens. Those of the T - 1 tokens before would take T V numbers.
  Array forward(const std::vector<Tokens>& texts, std::size_t end) {
    const std::size_t begin = begin_ + cache_.size(), T = end - begin;
    Indices tokens = Indices::from_shape({batch_, T});
    for (std::size_t b = 0; b < batch_; ++b)
      std::copy_n(texts[b].data() + begin, T, tokens.data() + b * T);
    if (T == 1 || !model_.config.causal)  // the model rejects what is not causal
      return select(model_(tokens, cache_), 1, 0).value();
    Tensor x = model_.embed(tokens, cache_.size());  // (B, T, C)
    for (std::size_t i = 0; i < cache_.blocks.size(); ++i)
      x = model_.blocks[i](x, cache_.blocks[i]);
    return select(model_.logits(slice(x, 1, -1)), 1, 0).value();
  }

  const nn::Gpt& model_;
  bool use_cache_;              // whether the cache is kept from one token to the next
  std::size_t batch_;           // B, the number of texts
  std::size_t begin_;           // index of the window's first token in the text
  std::size_t first_pass_end_;  // end index (exclusive) of the window's first forward pass
  std::size_t max_size_;        // the largest number of tokens of a text
  nn::GptCache cache_ = new_cache();
};

// Sets all logits below the k-th largest logit to -infinity.
void keep_top_k(Array& logits, std::size_t k) {
  std::vector<Real> sorted(logits.begin(), logits.end());
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(k - 1),
                   sorted.end(), std::greater<Real>());
  const Real smallest_kept = sorted[k - 1];
  for (Real& logit : logits)
    if (logit < smallest_kept) logit = -std::numeric_limits<Real>::infinity();
}

std::int64_t sample_token(Array logits, const GenerateOptions& options, Generator& generator) {
  const auto most_likely = std::max_element(logits.begin(), logits.end());
  if (options.temperature == 0) return most_likely - logits.begin();
  if (options.top_k != 0 && options.top_k < logits.size()) keep_top_k(logits, options.top_k);
  const auto largest = static_cast<double>(*most_likely);
  for (Real& logit : logits)
    logit =
        static_cast<Real>(std::exp((static_cast<double>(logit) - largest) / options.temperature));
  return generator.multinomial(logits, 1)(0);
}

void check_generation(const nn::Gpt& model, const Tokens& prompt, const GenerateOptions& options) {
  if (prompt.empty()) throw_error("generate: the prompt is empty; give at least one token");
  if (!(options.temperature >= 0) || std::isinf(options.temperature))
    throw_error("generate: temperature ", options.temperature, " must be 0 or more, and finite");
  const std::size_t V = model.config.vocab_size;
  for (const std::int64_t token : prompt)
    if (token < 0 || static_cast<std::size_t>(token) >= V)
      throw_error("generate: token ", token, " of the prompt is outside the vocabulary, 0 to ",
                  V - 1);
}

// Appends tokens to each text, all of which are the prompt at first. generators[b] draws the tokens
// of text b. Stops early when each(), called with the new token of text 0, returns false.
void append_tokens(const nn::Gpt& model, std::vector<Tokens>& texts, const GenerateOptions& options,
                   const std::vector<Generator*>& generators,
                   const std::function<bool(std::int64_t)>& each) {
  const NoGrad no_grad;
  const std::size_t size = texts[0].size(), most = std::numeric_limits<std::size_t>::max() - size;
  WindowedDecoder decoder(model, options.cache, texts.size(), size,
                          size + std::min(options.tokens, most));
  for (std::size_t i = 0; i < options.tokens; ++i) {
    const Array logits = decoder.next_logits(texts);  // (B, V)
    if (!all_finite(logits))
      throw_error("generate: the logits are not finite; the weights are too large or damaged");
    for (std::size_t b = 0; b < texts.size(); ++b)
      texts[b].push_back(sample_token(xt::view(logits, b), options, *generators[b]));
    if (each && !each(texts[0].back())) break;
  }
}

Tokens without_prompt(const Tokens& text, std::size_t prompt_size) {
  return {text.begin() + static_cast<std::ptrdiff_t>(prompt_size), text.end()};
}

}  // namespace

Tokens generate(const nn::Gpt& model, const Tokens& prompt, const GenerateOptions& options,
                Generator& generator, const std::function<bool(std::int64_t)>& each) {
  check_generation(model, prompt, options);
  std::vector<Tokens> texts{prompt};
  append_tokens(model, texts, options, {&generator}, each);
  return without_prompt(texts[0], prompt.size());
}

std::vector<Tokens> generate(const nn::Gpt& model, const Tokens& prompt,
                             const GenerateOptions& options, std::vector<Generator>& generators) {
  check_generation(model, prompt, options);
  if (generators.empty()) return {};
  std::vector<Tokens> texts(generators.size(), prompt);
  std::vector<Generator*> pointers;
  for (Generator& generator : generators) pointers.push_back(&generator);
  append_tokens(model, texts, options, pointers, {});
  for (Tokens& text : texts) text = without_prompt(text, prompt.size());
  return texts;
}

}  // namespace HEED_NAMESPACE
