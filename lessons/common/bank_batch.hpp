// bank_batch.hpp: bank texts as one batch of arrays, for training.
#pragma once

#include <algorithm>

#include "bank.hpp"

namespace heed {

struct BankBatch {
  Tensor X;      // (B, T, 4): the embeddings; zeros after the end of a text
  Indices next;  // (B, T): the next word at each 'bank', 0 floods or 1 lends. Elsewhere -100, a
                 // target that cross_entropy ignores
  Indices last;  // (B, T): the same at the last 'bank' of each text only
};

// The embeddings (N, 4) of a text: water, money, ambiguous, and the position divided by 10.
inline Array bank_embeddings(const BankText& text) {
  const Array units = {1, 1, 1, Real(0.1)};
  return bank_with_positions(text) * units;
}

// T is the length of the longest text.
inline BankBatch bank_batch(const std::vector<BankText>& texts) {
  std::size_t T = 0;
  for (const BankText& text : texts) T = std::max(T, text.words.size());
  Array X = zeros({texts.size(), T, 4});
  Indices next = Indices::from_shape({texts.size(), T});
  next.fill(-100);
  Indices last = next;
  for (std::size_t b = 0; b < texts.size(); ++b) {
    const BankText& text = texts[b];
    xt::view(X, b, xt::range(0, text.words.size())) = bank_embeddings(text);
    for (std::size_t i = 0; i < text.banks.size(); ++i)
      next(b, text.banks[i]) = std::int64_t(text.targets[i]);
    last(b, text.banks.back()) = std::int64_t(text.targets.back());
  }
  return {Tensor(X), next, last};
}

}  // namespace heed
