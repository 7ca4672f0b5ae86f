// 17 mask_words: choose words as BERT does, an exact number of each sentence.
//
// The lesson chooses each word with a chance of 15 %, so now and then none of a sentence. BERT's
// own program counts. tokens (N, T) are N sentences of numbers from 0 to vocabulary_size - 1;
// `stop` is the full stop's number, which may stand anywhere and is never chosen, and `mask` that
// of [MASK]. Give back what the model sees and what is asked of it, both (N, T):
//
//   - of a sentence with n words that are no full stop, choose 0.15 n, rounded, but one at
//     least; all words alike, and none twice. A sentence of full stops alone stays as it is;
//   - each chosen word becomes [MASK] with a chance of 80 %; with 10 % a word drawn evenly from all
//     but [MASK] and the full stop; with 10 % it stays. Each by its own chance;
//   - a target is the word that stood there where one was chosen, elsewhere -100.
//
// All chance comes from `generator`: randperm, rand and randint are what you need.
// Hint: First collect the places of a sentence that may be chosen.
// Hint: Then take the first few of these places, in an order that randperm gives.
// Hint: One number of rand decides a word's fate: below 0.8, below 0.9, or not.
// Hint: A draw that gives [MASK] or the full stop is drawn again.

#include <algorithm>
#include <cmath>

#include "exercise.hpp"
#include "fill_in_the_blank.hpp"

using namespace heed;

// Your part begins here.
Masked mask_words(const Indices& tokens, std::int64_t mask, std::int64_t stop,
                  std::int64_t vocabulary_size, Generator& generator) {
  Masked m{tokens, tokens};
  m.targets.fill(-100);
  for (std::size_t i = 0; i < tokens.shape(0); ++i) {
    std::vector<std::size_t> words;  // the places that may be chosen
    for (std::size_t t = 0; t < tokens.shape(1); ++t)
      if (tokens(i, t) != stop) words.push_back(t);
    const auto rounded = std::size_t(std::lround(0.15 * double(words.size())));
    const std::size_t count = std::min(words.size(), std::max<std::size_t>(1, rounded));
    const Indices order = generator.randperm(words.size());
    for (std::size_t c = 0; c < count; ++c) {
      const std::size_t t = words[std::size_t(order(c))];
      m.targets(i, t) = tokens(i, t);
      const Real fate = generator.rand({1})(0);
      if (fate < Real(0.8)) m.seen(i, t) = mask;
      if (fate < Real(0.8) || fate >= Real(0.9)) continue;
      do m.seen(i, t) = generator.randint(0, vocabulary_size, {1})(0);
      while (m.seen(i, t) == mask || m.seen(i, t) == stop);
    }
  }
  return m;
}
// Your part ends here.
