// ngrams.hpp: NGrams, a language model of n-gram counts, to which heed doctor compares a GPT.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace heed::app {

// The probability of a token given up to `order` tokens before it, interpolated over all orders
// with the weights of Witten and Bell 1991 (method C):
//   p_k(w | c) = (count(c w) + types(c) p_{k-1}(w | shorter c)) / (count(c) + types(c))
// where types(c) is the number of different tokens after c, and p_{-1} = 1 / V.
class NGrams {
 public:
  NGrams(const std::vector<std::int64_t>& tokens, std::size_t order, std::size_t vocab_size);

  // The mean of -ln p over the tokens of a text, each given the tokens before it, in nats.
  double cross_entropy(const std::vector<std::int64_t>& tokens) const;

 private:
  struct Context {
    std::uint32_t count = 0, types = 0;
  };
  std::size_t order_;
  double uniform_;
  std::unordered_map<std::uint64_t, Context> contexts_;        // by hash of the tokens
  std::unordered_map<std::uint64_t, std::uint32_t> followed_;  // count(c w), by hash of c and w
};

// The cross-entropy under a bigram model of each of 6 parts of the tokens, of `size` tokens each,
// counted in the tokens outside of the part. Empty if there are fewer than 6 * size tokens.
std::vector<double> bigram_losses_of_parts(const std::vector<std::int64_t>& tokens,
                                           std::size_t size, std::size_t vocab_size);

}  // namespace heed::app
