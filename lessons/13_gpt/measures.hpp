// measures.hpp: the loss of a bigram model by counting, for lesson 13.
#pragma once

#include <cmath>

#include "in_threads.hpp"
#include "lesson.hpp"

namespace heed {

// The loss on `text` of the bigram model of lesson 05, whose probabilities are the counts of pairs
// (input, target) in `counted`; a pair that does not occur counts as `unseen`. If both texts are
// the same, this is the lowest loss that a bigram model can have on it.
inline double bigram_loss(const Batch& counted, double unseen, const Batch& text) {
  Array n = unseen * ones({64, 64});
  for (std::size_t i = 0; i < counted.inputs.size(); ++i)
    n(std::size_t(counted.inputs.flat(i)), std::size_t(counted.targets.flat(i))) += 1;
  const Array sums = xt::sum(n, {1});
  double loss = 0;
  for (std::size_t i = 0; i < text.inputs.size(); ++i) {
    const std::size_t x = std::size_t(text.inputs.flat(i)), y = std::size_t(text.targets.flat(i));
    loss -= std::log(n(x, y) / sums(x)) / double(text.inputs.size());
  }
  return loss;
}

}  // namespace heed
