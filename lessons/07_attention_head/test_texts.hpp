// test_texts.hpp: the bank texts on which lesson 07 tests its models. None is used for training.
#pragma once

#include "bank_batch.hpp"

namespace heed {

inline const std::vector<Names> two_orders = {{"river", "money"}, {"money", "river"}};

// Whether texts with n1 and n2 times 'then' before their 'bank's are held out from training.
inline bool is_held_out(std::int64_t n1, std::int64_t n2) { return (n1 + n2) % 4 == 0; }

// The held-out texts with `low` to `high` times 'then' before each 'bank'.
inline BankBatch held_out_texts(std::int64_t low = 0, std::int64_t high = 8) {
  std::vector<BankText> texts;
  for (std::int64_t n1 = low; n1 <= high; ++n1)
    for (std::int64_t n2 = low; n2 <= high; ++n2)
      if (is_held_out(n1, n2))
        for (const Names& topics : two_orders) texts.push_back(bank_text(topics, {n1, n2}));
  return bank_batch(texts);
}

}  // namespace heed
