// generate.cpp: a model writes on, one symbol at a time.

#include "heed/train/generate.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "heed/autograd/tensor.hpp"
#include "heed/base/error.hpp"

namespace heed {
namespace {

using Text = std::vector<std::int64_t>;

// Reads a text that grows, through a window of block_size symbols.
class Reader {
 public:
  Reader(const nn::Gpt& model, bool keep, std::size_t prompt)
      : model_(model), keep_(keep), begin_(prompt - std::min(prompt, block())), first_(prompt) {}

  // Scores of the symbol after the last one: (V). The text is the prompt, or one symbol longer than
  // the last time.
  Array next_scores(const Text& text) {
    if (text.size() - begin_ > block()) {  // full: go on with its newer half and the new symbol
      begin_ += block() - block() / 2;
      first_ = text.size();
      cache_ = nn::GptCache(model_.config);
    }
    if (!keep_) cache_ = nn::GptCache(model_.config);
    if (cache_.size() == 0) read(text, first_);
    while (begin_ + cache_.size() < text.size()) read(text, begin_ + cache_.size() + 1);
    return scores_;
  }

 private:
  std::size_t block() const { return model_.config.block_size; }

  // What is in the window before `end` and was not read yet, in one pass.
  void read(const Text& text, std::size_t end) {
    const std::size_t begin = begin_ + cache_.size(), V = model_.config.vocab_size;
    Indices tokens = Indices::from_shape({1, end - begin});
    std::copy_n(text.data() + begin, end - begin, tokens.data());
    const Tensor scores = model_(tokens, cache_);  // (1, T, V)
    std::copy_n(scores.value().data() + (end - begin - 1) * V, V, scores_.data());
  }

  const nn::Gpt& model_;
  bool keep_;          // the cache, from one symbol to the next
  std::size_t begin_;  // of the window in the text
  std::size_t first_;  // where the text ended when the window began: read in one pass up to here
  nn::GptCache cache_{model_.config};
  Array scores_ = uninitialized({model_.config.vocab_size});
};

// Scores that are not among the k largest become -infinity.
void keep_largest(Array& scores, std::size_t k) {
  std::vector<Real> sorted(scores.begin(), scores.end());
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(k - 1),
                   sorted.end(), std::greater<Real>());
  const Real least = sorted[k - 1];
  for (Real& score : scores)
    if (score < least) score = -std::numeric_limits<Real>::infinity();
}

std::int64_t choose(Array scores, const GenerateOptions& options, Generator& generator) {
  const auto top = std::max_element(scores.begin(), scores.end());
  if (options.temperature == 0) return top - scores.begin();
  if (options.top_k != 0 && options.top_k < scores.size()) keep_largest(scores, options.top_k);
  const double largest = static_cast<double>(*std::max_element(scores.begin(), scores.end()));
  for (Real& score : scores)
    score =
        static_cast<Real>(std::exp((static_cast<double>(score) - largest) / options.temperature));
  return generator.multinomial(scores, 1)(0);
}

}  // namespace

Text generate(const nn::Gpt& model, const Text& prompt, const GenerateOptions& options,
              Generator& generator, const std::function<bool(std::int64_t)>& each) {
  if (prompt.empty()) throw_error("generate: the prompt is empty; begin with at least one symbol");
  if (!(options.temperature >= 0) || std::isinf(options.temperature))
    throw_error("generate: temperature ", options.temperature, " must be 0 or more, and finite");
  const std::size_t V = model.config.vocab_size;
  for (const std::int64_t symbol : prompt)
    if (symbol < 0 || static_cast<std::size_t>(symbol) >= V)
      throw_error("generate: symbol ", symbol, " of the prompt is outside the vocabulary, 0 to ",
                  V - 1);
  const NoGrad no_grad;
  Text text = prompt;
  Reader reader(model, options.cache, prompt.size());
  for (std::size_t i = 0; i < options.tokens; ++i) {
    text.push_back(choose(reader.next_scores(text), options, generator));
    if (each && !each(text.back())) break;
  }
  return {text.begin() + static_cast<std::ptrdiff_t>(prompt.size()), text.end()};
}

}  // namespace heed
