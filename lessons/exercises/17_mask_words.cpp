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

#include <algorithm>
#include <cmath>

#include "exercise.hpp"
#include "fill_in_the_blank.hpp"

using namespace heed;

// Your part begins here.
Masked mask_words(const Indices& tokens, std::int64_t mask, std::int64_t stop,
                  std::int64_t vocabulary_size, Generator& generator) {
  Masked m{tokens, tokens};
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::int64_t chance = generator.randint(0, 100, {1})(0);
    if (chance < 15) m.seen.data()[i] = mask;
  }
  (void)stop, (void)vocabulary_size;  // not looked at yet
  return m;
}
// Your part ends here.
