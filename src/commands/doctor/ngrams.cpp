// ngrams.cpp: NGrams, a language model of n-gram counts, to which heed doctor compares a GPT.

#include "commands/doctor/ngrams.hpp"

#include <algorithm>
#include <cmath>

namespace heed::app {
namespace {

// Mixes the bits of a hash and of the next token (SplitMix64, Steele et al. 2014).
std::uint64_t mixed(std::uint64_t hash, std::int64_t token) {
  std::uint64_t z = hash + 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(token);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// Calls visit(context) with the hash of 0, 1, ... `order` tokens before position i.
template <class Visit>
void each_context(const std::vector<std::int64_t>& tokens, std::size_t i, std::size_t order,
                  const Visit& visit) {
  std::uint64_t hash = 0;
  visit(hash);
  for (std::size_t k = 1; k <= std::min(order, i); ++k)
    visit(hash = mixed(hash + 1, tokens[i - k]));
}

}  // namespace

NGrams::NGrams(const std::vector<std::int64_t>& tokens, std::size_t order, std::size_t vocab_size)
    : order_(order), uniform_(1 / static_cast<double>(vocab_size)) {
  for (std::size_t i = 0; i < tokens.size(); ++i)
    each_context(tokens, i, order, [&](std::uint64_t context) {
      Context& counts = contexts_[context];
      ++counts.count;
      if (++followed_[mixed(~context, tokens[i])] == 1) ++counts.types;
    });
}

double NGrams::cross_entropy(const std::vector<std::int64_t>& tokens) const {
  double sum = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    double p = uniform_;
    each_context(tokens, i, order_, [&](std::uint64_t context) {
      const auto found = contexts_.find(context);
      if (found == contexts_.end()) return;
      const auto pair = followed_.find(mixed(~context, tokens[i]));
      const double count = found->second.count, types = found->second.types;
      p = ((pair == followed_.end() ? 0 : pair->second) + types * p) / (count + types);
    });
    sum -= std::log(p);
  }
  return sum / static_cast<double>(tokens.size());
}

std::vector<double> bigram_losses_of_parts(const std::vector<std::int64_t>& tokens,
                                           std::size_t size, std::size_t vocab_size) {
  constexpr std::size_t parts = 6;
  if (size == 0 || tokens.size() < parts * size) return {};
  const std::size_t stride = (tokens.size() - size) / (parts - 1);
  std::vector<double> losses;
  for (std::size_t i = 0; i < parts; ++i) {
    const auto begin = tokens.begin() + static_cast<std::ptrdiff_t>(i * stride),
               end = begin + static_cast<std::ptrdiff_t>(size);
    std::vector<std::int64_t> rest(tokens.begin(), begin);
    rest.insert(rest.end(), end, tokens.end());
    losses.push_back(NGrams(rest, 1, vocab_size).cross_entropy({begin, end}));
  }
  return losses;
}

}  // namespace heed::app
