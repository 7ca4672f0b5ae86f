// test_texts.hpp: the bank texts on which lesson 07 measures its models.
#pragma once

#include "bank_batch.hpp"

namespace heed {

inline const std::vector<Names> two_orders = {{"river", "money"}, {"money", "river"}};

// Whether texts with n1 and n2 times 'then' before their 'bank's are held out from training.
inline bool is_held_out(std::int64_t n1, std::int64_t n2) { return (n1 + n2) % 4 == 0; }

// The texts with `low` to `high` times 'then' before each 'bank', held out or not.
inline BankBatch all_texts(bool held_out, std::int64_t low, std::int64_t high) {
  std::vector<BankText> texts;
  for (std::int64_t n1 = low; n1 <= high; ++n1)
    for (std::int64_t n2 = low; n2 <= high; ++n2)
      if (is_held_out(n1, n2) == held_out)
        for (const Names& topics : two_orders) texts.push_back(bank_text(topics, {n1, n2}));
  return bank_batch(texts);
}

inline BankBatch training_texts() { return all_texts(false, 0, 8); }

inline BankBatch held_out_texts(std::int64_t low = 0, std::int64_t high = 8) {
  return all_texts(true, low, high);
}

}  // namespace heed
