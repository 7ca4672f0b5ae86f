// sequences.hpp: the three tasks of lesson 20, padded batches, and sequences that are held out.
#pragma once

#include <algorithm>
#include <set>

#include "lesson.hpp"

namespace heed {

// Tokens: the letters a to j are 0 to 9. The first token of a source is its task.
constexpr std::int64_t num_letters = 10, padding = 10, start = 11, stop = 12, reverse = 13,
                       sort = 14, shuffle = 15;
constexpr std::size_t V = 16;

using Tokens = std::vector<std::int64_t>;
inline const Names task_names = {"reverse", "sort", "shuffle"};

inline Names names_of(const Tokens& tokens) {
  const Names others = {"<pad>", "<start>", "<stop>", "<reverse>", "<sort>", "<shuffle>"};
  Names names;
  for (const std::int64_t token : tokens)
    names.push_back(token < num_letters ? std::string(1, char('a' + token))
                                        : others[std::size_t(token - padding)]);
  return names;
}

inline std::string text_of(const Tokens& tokens) {  // separated by spaces
  std::string text;
  for (const std::string& name : names_of(tokens)) text += (text.empty() ? "" : " ") + name;
  return text;
}

// A source and its target, without padding: <sort> c a c <stop> and a c <stop>.
struct Pair {
  Tokens source, target;
};

inline Pair pair_of(std::int64_t task, const Tokens& letters, Generator& g) {
  Pair pair{{task}, letters};
  pair.source.insert(pair.source.end(), letters.begin(), letters.end());
  pair.source.push_back(stop);
  if (task == reverse) std::reverse(pair.target.begin(), pair.target.end());
  if (task != reverse) {
    const std::set<std::int64_t> distinct(letters.begin(), letters.end());  // in ascending order
    pair.target.assign(distinct.begin(), distinct.end());
  }
  if (task == shuffle) {
    const Tokens sorted = pair.target;
    const Indices order = g.randperm(sorted.size());
    for (std::size_t t = 0; t < sorted.size(); ++t) pair.target[t] = sorted[std::size_t(order(t))];
  }
  pair.target.push_back(stop);
  return pair;
}

// Whether the output is right: the target, or for shuffle any order of the same letters.
inline bool is_right(const Pair& pair, Tokens output) {
  Tokens target = pair.target;
  if (output.size() != target.size() || output.back() != stop) return false;
  if (pair.source[0] == shuffle)
    std::sort(output.begin(), output.end()), std::sort(target.begin(), target.end());
  return output == target;
}

inline std::size_t longest_target(const std::vector<Pair>& pairs) {
  std::size_t T = 0;
  for (const Pair& pair : pairs) T = std::max(T, pair.target.size());
  return T;
}

// Pairs of different lengths as rows, padded at the end.
struct Batch {
  Indices source;  // (B, S)
  Indices input;   // (B, T), of the decoder: <start>, then the target without its last token
  Indices target;  // (B, T)
};

inline Batch batch_of(const std::vector<Pair>& pairs) {
  std::size_t S = 0;
  for (const Pair& pair : pairs) S = std::max(S, pair.source.size());
  const std::size_t B = pairs.size(), T = longest_target(pairs);
  Batch batch{indices({B, S}, padding), indices({B, T}, padding), indices({B, T}, padding)};
  for (std::size_t b = 0; b < B; ++b) {
    const auto& [source, target] = pairs[b];
    for (std::size_t s = 0; s < source.size(); ++s) batch.source(b, s) = source[s];
    for (std::size_t t = 0; t < target.size(); ++t) {
      batch.input(b, t) = t == 0 ? start : target[t - 1];
      batch.target(b, t) = target[t];
    }
  }
  return batch;
}

// Whether letter t of the target is a copy of the token at position s of the source. For 'sort' and
// 'shuffle' any position of this letter counts.
inline bool is_copied(const Pair& pair, std::size_t t, std::size_t s) {
  const std::size_t n = pair.source.size() - 2;  // letters; letter s - 1 is at position s
  return pair.source[0] == reverse ? s == n - t : pair.source[s] == pair.target[t];
}

// Lengths in letters: training has lengths from `shortest` to `longest` except `left_out`.
inline const std::size_t shortest = 3, longest = std::size_t(in_brief(9, 6)),
                         left_out = std::size_t(in_brief(6, 5)), longest_tested = longest + 4;

// Random pairs. 100 sequences of letters of each length are held out of training.
class Data {
 public:
  Data() {
    Generator g(2026);
    for (std::size_t n = shortest; n <= longest_tested; ++n) {
      std::vector<Tokens> letters;  // sequences, all different
      while (letters.size() < 100) {
        const Tokens drawn = draw_letters(g, n);
        if (held_out_letters_.insert(drawn).second) letters.push_back(drawn);
      }
      for (const std::int64_t task : {reverse, sort, shuffle})
        for (const Tokens& sequence : letters) held_out_.push_back(pair_of(task, sequence, g));
    }
  }

  // `count` held-out pairs of this task and length, beginning with index `first` of 100.
  std::vector<Pair> held_out_of_length(std::int64_t task, std::size_t n, std::size_t first,
                                       std::size_t count) const {
    first += 300 * (n - shortest) + 100 * std::size_t(task - reverse);
    const auto begin = held_out_.begin() + std::ptrdiff_t(first);
    return {begin, begin + std::ptrdiff_t(count)};
  }

  // `count` held-out pairs of this task for each length of the training.
  std::vector<Pair> held_out(std::int64_t task, std::size_t first, std::size_t count) const {
    std::vector<Pair> pairs;
    for (std::size_t n = shortest; n <= longest; ++n) {
      if (n == left_out) continue;
      const std::vector<Pair> more = held_out_of_length(task, n, first, count);
      pairs.insert(pairs.end(), more.begin(), more.end());
    }
    return pairs;
  }

  // The pairs that choose the learning rates: all tasks, without the first 50 pairs of each length.
  std::vector<Pair> tuning_pairs() const {
    std::vector<Pair> pairs;
    for (const std::int64_t task : {reverse, sort, shuffle}) {
      const std::vector<Pair> more = held_out(task, 50, 50);
      pairs.insert(pairs.end(), more.begin(), more.end());
    }
    return pairs;
  }

  Batch training_batch(Generator& g, std::size_t B) const {
    std::vector<Pair> pairs;
    while (pairs.size() < B) {
      const Indices drawn = g.randint(std::int64_t(shortest), std::int64_t(longest) + 1, {1});
      const Tokens letters = draw_letters(g, std::size_t(drawn(0)));
      if (letters.size() == left_out || held_out_letters_.count(letters) == 1) continue;
      pairs.push_back(pair_of(reverse + std::int64_t(pairs.size() % 3), letters, g));
    }
    return batch_of(pairs);
  }

 private:
  static Tokens draw_letters(Generator& g, std::size_t n) {
    const Indices letters = g.randint(0, num_letters, {n});
    return Tokens(letters.begin(), letters.end());
  }

  std::set<Tokens> held_out_letters_;
  std::vector<Pair> held_out_;  // 100 of each task, for each length
};

}  // namespace heed
