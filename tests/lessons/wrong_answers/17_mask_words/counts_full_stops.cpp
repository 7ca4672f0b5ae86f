// Takes 15 % of all positions, full stops included.
#include <algorithm>
#include <cmath>

#include "exercise.hpp"
#include "fill_in_the_blank.hpp"

using namespace heed;

Masked mask_words(const Indices& tokens, std::int64_t mask, std::int64_t stop,
                  std::int64_t vocabulary_size, Generator& generator) {
  Masked m{tokens, tokens};
  m.targets.fill(-100);
  for (std::size_t i = 0; i < tokens.shape(0); ++i) {
    std::vector<std::size_t> words;  // the positions that may be chosen
    for (std::size_t t = 0; t < tokens.shape(1); ++t)
      if (tokens(i, t) != stop) words.push_back(t);
    const auto rounded = std::size_t(std::lround(0.15 * double(tokens.shape(1))));
    const std::size_t count = std::min(words.size(), std::max<std::size_t>(1, rounded));
    const Indices order = generator.randperm(words.size());
    for (std::size_t c = 0; c < count; ++c) {
      const std::size_t t = words[std::size_t(order(c))];
      m.targets(i, t) = tokens(i, t);
      const Real action = generator.rand({1})(0);
      if (action < Real(0.8)) m.seen(i, t) = mask;
      if (action < Real(0.8) || action >= Real(0.9)) continue;
      do m.seen(i, t) = generator.randint(0, vocabulary_size, {1})(0);
      while (m.seen(i, t) == mask || m.seen(i, t) == stop);
    }
  }
  return m;
}
