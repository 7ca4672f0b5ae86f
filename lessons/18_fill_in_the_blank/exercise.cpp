// 18 mask_words: choose the exact number of tokens in each sentence, as BERT does.
//
// The lesson chooses each token with probability 15 %, so it may choose none in a sentence. BERT's
// own code chooses a fixed number. tokens (N, T) are N sentences of numbers from 0 to
// vocabulary_size - 1. `stop` is the number of the full stop, which may be at any position and is
// never chosen. `mask` is the number of [MASK]. Return the model's inputs and targets, both (N, T):
//
//   - In a sentence with n tokens that are not full stops, choose 0.15 n of them, rounded to the
//     nearest integer (1.5 to 1 or 2), but at least one. All are equally likely, none is chosen
//     twice. A sentence of full stops alone does not change.
//   - Each chosen token becomes [MASK] with probability 80 %; with 10 % a token drawn uniformly
//     from the vocabulary without [MASK] and the full stop; with 10 % it stays. These draws are
//     independent.
//   - The target is the original token where one was chosen, and -100 elsewhere.
//
// Draw all random numbers from `generator`, with randperm, rand and randint.

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
    const std::int64_t percent = generator.randint(0, 100, {1})(0);
    if (percent < 15) m.seen.data()[i] = mask;
  }
  (void)stop, (void)vocabulary_size;  // not used yet
  return m;
}
// Your part ends here.
