// ngram.hpp: reading the text of lesson 15, and an n-gram model of it, the baseline of the GPT.
#pragma once

#include <map>

#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/utf8.hpp"
#include "heed/text/vocabulary.hpp"
#include "lesson.hpp"

namespace heed {

const std::size_t longest = 8;  // the longest context that is counted, in tokens

using Tables = std::vector<Array>;  // p[k]: probability of each token, for context length k

// The mean of the tables for k = first, ..., max_context.
inline Array mean_from(const Tables& tables, std::size_t first) {
  Array sum = zeros(tables[0].shape());
  for (std::size_t k = first; k < tables.size(); ++k) sum += tables[k];
  return sum / Real(tables.size() - first);
}

inline double loss_of(const Array& p) { return -xt::mean<double>(xt::log(p))(); }

using Ids = std::vector<std::int64_t>;

// Counts which tokens follow each context of 0 to max_context tokens in a text.
struct NGramModel {
  struct Context {
    double total = 0;                      // how often the context occurs
    std::map<std::int64_t, double> after;  // how often each token follows it
  };
  std::map<Ids, Context> contexts;
  double vocabulary_size;

  NGramModel(const Ids& text, std::size_t max_context, std::size_t V) : vocabulary_size(double(V)) {
    for (std::size_t t = 0; t < text.size(); ++t)
      for (std::size_t k = 0; k <= std::min(t, max_context); ++k) {
        Context& context = contexts[Ids(&text[t] - k, &text[t])];
        context.total += 1;
        context.after[text[t]] += 1;
      }
  }

  // p(token | k tokens before `end`), with Witten-Bell interpolation: from k = 0 on,
  // p_k = (count + distinct p_(k-1)) / (total + distinct), where `distinct` different tokens follow
  // the context.
  double probability(std::int64_t token, const std::int64_t* end, std::size_t k) const {
    double p = 1 / vocabulary_size;
    for (std::size_t j = 0; j <= k; ++j) {
      const auto found = contexts.find(Ids(end - j, end));
      if (found == contexts.end()) break;  // then longer contexts do not occur either
      const auto& [total, after] = found->second;
      const auto count = after.find(token);
      const double distinct = double(after.size());
      p = ((count == after.end() ? 0 : count->second) + distinct * p) / (total + distinct);
    }
    return p;
  }

  // p(token) for each token from index `begin` to `end` of a text, for each context length k: rows
  // of 32.
  Tables tables(const Ids& text, std::size_t begin, std::size_t end) const {
    Tables tables(longest + 1, zeros({(end - begin) / 32, 32ul}));
    for (std::size_t k = 0; k <= longest; ++k)
      for (std::size_t i = 0; i < tables[k].size(); ++i)
        tables[k].data()[i] = Real(probability(text[begin + i], &text[begin + i], k));
    return tables;
  }
};

// The reader's own text, or the play that comes with heed.
inline std::string text_to_learn(int count, char** arguments) {
  const std::string path = count > 1 ? arguments[1] : HEED_DATA_DIR "/harbour.txt";
  std::string text = read_text(path);
  if (has_byte_order_mark(text)) text.erase(0, 3);
  if (text.size() < 4000)
    throw_error(path, ": this lesson needs a text of 4000 characters or more");
  return text;
}

}  // namespace heed
