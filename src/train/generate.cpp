// generate.cpp: text generation: a sliding window with a key-value cache, and token sampling.

#include "heed/train/generate.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "heed/array/reduce.hpp"
#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {
namespace {

using Tokens = std::vector<std::int64_t>;

// Runs the model on a growing text, through a sliding window of at most block_size tokens.
class WindowedDecoder {
 public:
  WindowedDecoder(const nn::Gpt& model, bool use_cache, std::size_t prompt_size)
      : model_(model),
        use_cache_(use_cache),
        begin_(prompt_size - std::min(prompt_size, block())),
        first_pass_end_(prompt_size) {}

  // The logits (V) of the token after `text`. `text` is the prompt in the first call, and must be
  // one token longer in each further call.
  Array next_logits(const Tokens& text) {
    if (text.size() - begin_ > block()) {  // the window is full: drop its older half
      begin_ += block() - block() / 2;
      first_pass_end_ = text.size();
      cache_ = nn::GptCache(model_.config);
    }
    if (!use_cache_) cache_ = nn::GptCache(model_.config);
    Array logits;
    if (cache_.size() == 0) logits = forward(text, first_pass_end_);
    while (begin_ + cache_.size() < text.size()) logits = forward(text, begin_ + cache_.size() + 1);
    return logits;
  }

 private:
  std::size_t block() const { return model_.config.block_size; }

  // Runs the model once, on the tokens that are not cached and whose index is below `end`. Returns
  // the logits (V) of the last token.
  Array forward(const Tokens& text, std::size_t end) {
    const std::size_t begin = begin_ + cache_.size();
    Indices tokens = Indices::from_shape({1, end - begin});
    std::copy_n(text.data() + begin, end - begin, tokens.data());
    const Tensor logits = model_(tokens, cache_);  // (1, T, V)
    return xt::view(logits.value(), 0, end - begin - 1);
  }

  const nn::Gpt& model_;
  bool use_cache_;              // whether the cache is kept from one token to the next
  std::size_t begin_;           // index of the window's first token in the text
  std::size_t first_pass_end_;  // end index (exclusive) of the window's first forward pass
  nn::GptCache cache_{model_.config};
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

}  // namespace

Tokens generate(const nn::Gpt& model, const Tokens& prompt, const GenerateOptions& options,
                Generator& generator, const std::function<bool(std::int64_t)>& each) {
  if (prompt.empty()) throw_error("generate: the prompt is empty; give at least one token");
  if (!(options.temperature >= 0) || std::isinf(options.temperature))
    throw_error("generate: temperature ", options.temperature, " must be 0 or more, and finite");
  const std::size_t V = model.config.vocab_size;
  for (const std::int64_t token : prompt)
    if (token < 0 || static_cast<std::size_t>(token) >= V)
      throw_error("generate: token ", token, " of the prompt is outside the vocabulary, 0 to ",
                  V - 1);
  const NoGrad no_grad;
  Tokens text = prompt;
  WindowedDecoder decoder(model, options.cache, prompt.size());
  for (std::size_t i = 0; i < options.tokens; ++i) {
    Array logits = decoder.next_logits(text);
    if (!all_finite(logits))
      throw_error("generate: the logits are not finite; the weights are too large or damaged");
    text.push_back(sample_token(std::move(logits), options, generator));
    if (each && !each(text.back())) break;
  }
  return {text.begin() + static_cast<std::ptrdiff_t>(prompt.size()), text.end()};
}

}  // namespace HEED_NAMESPACE
