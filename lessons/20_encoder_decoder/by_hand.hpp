// by_hand.hpp: examples of the tasks, cross-attention and the loss by hand, and bounds, for
// lesson 20.
#pragma once

#include <cmath>

#include "transformer.hpp"

namespace heed {

inline void claim_less(const std::string& what, double a, double b,
                       SourceLocation location = SourceLocation::current()) {
  claim(what, a < b, decimal(a, 4) + " and " + decimal(b, 4), location);
}

inline Tokens row_of(const Indices& tokens, std::size_t b) {  // of (B, T)
  return Tokens(tokens.begin() + std::ptrdiff_t(b * tokens.shape(1)),
                tokens.begin() + std::ptrdiff_t((b + 1) * tokens.shape(1)));
}

inline Real largest_difference(const Tensor& a, const Tensor& b) {
  const Array difference = xt::abs(a.value() - b.value());
  return xt::amax(difference)();
}

inline Pair example(const Data& data, std::int64_t task) {
  return data.held_out(task, 5, 4).back();
}

inline void show_tasks(const Data& data) {
  section("From one sequence to another");
  say("The models so far have one output for each input token. A translation can have",
      "another length than its source: this is SEQUENCE-TO-SEQUENCE learning (Sutskever",
      "et al. 2014). Our sources are random letters from a to j, and the first token is",
      "the task. 'sort' and 'shuffle' write each letter once, so their targets can be",
      "shorter than the source. For 'shuffle' any order is right; in training it is",
      "random:", "");
  for (const std::int64_t task : {reverse, sort, shuffle}) {
    const Pair pair = example(data, task);
    say(pad_right(text_of(pair.source), 29) + "->  " + text_of(pair.target));
  }
  say("",
      "Training sources have " + std::to_string(shortest) + " to " + std::to_string(longest) +
          " letters, but never " + std::to_string(left_out) + ". For each length, from " +
          std::to_string(shortest),
      "to " + std::to_string(longest_tested) +
          ", 100 sequences of letters are held out for the tests.");
}

// Cross-attention for the decoder's x (T, C) and the memory (S, C): (T, C). Head h uses the columns
// h D to h D + D - 1.
inline Array cross_attention_by_hand(const nn::MultiHeadAttention& attention, const Array& x,
                                     const Array& memory) {
  const Array Q = attention.query(Tensor(x)).value(),    // (T, C): queries from the decoder
      K = attention.key(Tensor(memory)).value(),         // (S, C): keys from the encoder
      values = attention.value(Tensor(memory)).value();  // (S, C)
  const std::size_t T = x.shape(0), S = memory.shape(0), D = C / H;
  Array heads = zeros({T, C});
  for (std::size_t h = 0; h < H; ++h)
    for (std::size_t t = 0; t < T; ++t) {
      std::vector<double> e(S, 0);
      double sum = 0;
      for (std::size_t s = 0; s < S; ++s) {
        double score = 0;
        for (std::size_t d = h * D; d < h * D + D; ++d) score += Q(t, d) * K(s, d);
        sum += e[s] = std::exp(score / std::sqrt(double(D)));
      }
      for (std::size_t s = 0; s < S; ++s)
        for (std::size_t d = h * D; d < h * D + D; ++d)
          heads(t, d) += Real(e[s] / sum) * values(s, d);
    }
  return attention.out(Tensor(heads)).value();
}

// The mean of -ln p(token) over all tokens of the targets. Each pair stands alone, without padding,
// and each token is predicted from a prefix that ends before it.
inline double loss_by_hand(const Transformer& model, const std::vector<Pair>& pairs) {
  double sum = 0, count = 0;
  for (const auto& [source, target] : pairs)
    for (std::size_t t = 0; t < target.size(); ++t) {
      Tokens prefix = {start};
      prefix.insert(prefix.end(), target.begin(), target.begin() + std::ptrdiff_t(t));
      Indices x = indices({1, source.size()}), y = indices({1, prefix.size()});
      std::copy(source.begin(), source.end(), x.begin());
      std::copy(prefix.begin(), prefix.end(), y.begin());
      const Array logits = select(model(x, y), 1, -1).value();  // (1, V), at the last position
      double exponentials = 0;
      for (std::size_t v = 0; v < V; ++v) exponentials += std::exp(double(logits(0, v)));
      sum += std::log(exponentials) - logits(0, std::size_t(target[t])), count += 1;
    }
  return sum / count;
}

// Lower bounds on the expected loss of shuffle, summed over d distinct letters and <stop>. If the
// decoder knows all letters so far: ln d + ln(d - 1) + ... + ln 1. If it knows only the previous
// letter, each of the d - 1 others is equally likely: ln d + (d - 1) ln(d - 1). shuffle_bounds
// returns means per token.
struct ShuffleBounds {
  double all_letters = 0, previous_letter = 0;
};

inline ShuffleBounds shuffle_bounds(const std::vector<Pair>& pairs) {
  ShuffleBounds bounds;
  double tokens = 0;
  for (const Pair& pair : pairs) tokens += double(pair.target.size());
  for (const Pair& pair : pairs) {
    const std::size_t d = pair.target.size() - 1;
    for (std::size_t t = 0; t < d; ++t) {
      bounds.all_letters += std::log(double(d - t)) / tokens;
      bounds.previous_letter += std::log(double(t == 0 ? d : d - 1)) / tokens;
    }
  }
  return bounds;
}

// The largest fraction of the pairs for which one and the same output is right.
inline double best_constant(const std::vector<Pair>& pairs) {
  std::size_t most = 0;
  for (const Pair& candidate : pairs) {
    std::size_t right = 0;
    for (const Pair& pair : pairs) right += is_right(pair, candidate.target);
    most = std::max(most, right);
  }
  return double(most) / double(pairs.size());
}

}  // namespace heed
