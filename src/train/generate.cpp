// generate.cpp: a model writes on, one symbol at a time.

#include "heed/train/generate.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "heed/array/error.hpp"
#include "heed/autograd/tensor.hpp"

namespace heed {
namespace {

// Scores of the symbol after the last one: (V).
Array next_scores(const nn::Gpt& model, const std::vector<std::int64_t>& text) {
  const std::size_t T = std::min(text.size(), model.config.block_size);
  Indices window = Indices::from_shape({1, T});
  std::copy(text.end() - static_cast<std::ptrdiff_t>(T), text.end(), window.begin());
  const Tensor scores = model(window);  // (1, T, V)
  const std::size_t V = model.config.vocab_size;
  Array last = uninitialized({V});
  std::copy_n(scores.value().data() + (T - 1) * V, V, last.data());
  return last;
}

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

std::vector<std::int64_t> generate(const nn::Gpt& model, const std::vector<std::int64_t>& prompt,
                                   const GenerateOptions& options, Generator& generator,
                                   const std::function<bool(std::int64_t)>& each) {
  if (prompt.empty()) refuse("generate: the prompt is empty; begin with at least one symbol");
  if (!(options.temperature >= 0) || std::isinf(options.temperature))
    refuse("generate: temperature ", options.temperature, " must be 0 or more, and finite");
  const std::size_t V = model.config.vocab_size;
  for (const std::int64_t symbol : prompt)
    if (symbol < 0 || static_cast<std::size_t>(symbol) >= V)
      refuse("generate: symbol ", symbol, " of the prompt is outside the vocabulary, 0 to ", V - 1);
  const NoGrad no_grad;
  std::vector<std::int64_t> text = prompt;
  for (std::size_t i = 0; i < options.tokens; ++i) {
    text.push_back(choose(next_scores(model, text), options, generator));
    if (each && !each(text.back())) break;
  }
  return {text.begin() + static_cast<std::ptrdiff_t>(prompt.size()), text.end()};
}

}  // namespace heed
