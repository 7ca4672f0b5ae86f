// measures.hpp: alignment, ablation of heads and bounds of lesson 20.
#pragma once

#include <cmath>

#include "pictures.hpp"

namespace heed {

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

// A mask (T, T) with which each query attends to its own position only.
inline Mask only_own_position(std::size_t T) {  // (T, T), true (may attend) on the diagonal
  Mask own = mask({T, T});
  for (std::size_t t = 0; t < T; ++t) own(t, t) = true;
  return own;
}

// The fraction of the pairs whose whole output is right.
template <class Transformer>
double exact_match(const Transformer& model, const std::vector<Pair>& pairs) {
  const std::vector<Tokens> outputs = greedy_outputs(model, pairs);
  double right = 0;
  for (std::size_t b = 0; b < pairs.size(); ++b) right += is_right(pairs[b], outputs[b]);
  return right / double(pairs.size());
}

template <class Models>
std::vector<double> exact_matches(const Models& models, const std::vector<Pair>& pairs) {
  std::vector<double> matches;
  for (const auto& model : models) matches.push_back(exact_match(model, pairs));
  return matches;
}

template <class Models>
std::vector<LengthRow> matches_by_length(const Models& models, const Data& data) {
  std::vector<LengthRow> rows;
  for (std::size_t n = shortest; n <= longest_tested; ++n) {
    rows.push_back({n});
    for (const std::int64_t task : {reverse, sort, shuffle})
      rows.back().matches.push_back(exact_matches(models, data.held_out_of_length(task, n, 0, 50)));
  }
  return rows;
}

// Calls f(b, t) for each letter of the targets.
template <class Function>
void for_each_letter(const std::vector<Pair>& pairs, const Function& f) {
  for (std::size_t b = 0; b < pairs.size(); ++b)
    for (std::size_t t = 0; t + 1 < pairs[b].target.size(); ++t) f(b, t);
}

// For each letter and head, the fraction of the copies of this letter that have the head's largest
// weight on the copied letter: (10, H + 1). The last column is that of the mean of the heads.
template <class Transformer>
Array looks_at_letters(const Transformer& model, const std::vector<Pair>& pairs) {
  const Array weights = decoded_without(0, model, batch_of(pairs)).weights.value();
  const std::size_t heads = weights.shape(1);
  Array looks = zeros({std::size_t(num_letters), heads + 1}), count = zeros({looks.shape(0), 1});
  for (std::size_t h = 0; h <= heads; ++h) {
    const Indices at = h < heads ? argmax(Tensor(Array(xt::view(weights, xt::all(), h))), -1)
                                 : argmax(mean(Tensor(weights), {1}), -1);  // (B, T)
    for_each_letter(pairs, [&](std::size_t b, std::size_t t) {
      const auto s = std::size_t(at(b, t)), letter = std::size_t(pairs[b].target[t]);
      looks(letter, h) += s < pairs[b].source.size() && is_copied(pairs[b], t, s);
      if (h == 0) count(letter, 0) += 1;
    });
  }
  return looks / count;
}

// The head of each letter: the one whose largest weight is most often on it. The tuning pairs
// choose it.
template <class Transformer>
std::vector<std::size_t> heads_of_letters(const Transformer& model, const Data& data,
                                          std::int64_t task) {
  const Array looks = looks_at_letters(model, data.held_out(task, 50, 50));
  std::vector<std::size_t> heads;
  for (std::size_t letter = 0; letter < looks.shape(0); ++letter) {
    const Array row = xt::view(looks, letter, xt::range(0, looks.shape(1) - 1));
    heads.push_back(std::size_t(std::max_element(row.begin(), row.end()) - row.begin()));
  }
  return heads;
}

// The same for a single head for all letters, which the tuning pairs choose.
template <class Transformer>
std::size_t best_head(const Transformer& model, const Data& data, std::int64_t task) {
  const Array means = xt::mean(looks_at_letters(model, data.held_out(task, 50, 50)), {0});
  return std::size_t(std::max_element(means.begin(), means.end() - 1) - means.begin());
}

// For 'sort', how often a head's largest weight is on the next of its own letters: of those in the
// source, the first in the alphabet that is not yet written. Cases in which a head has none are
// left out.
template <class Transformer>
double looks_at_next_letter(const Transformer& model, const Data& data) {
  const std::vector<Pair> pairs = data.held_out(sort, 0, 50);
  const std::vector<std::size_t> own = heads_of_letters(model, data, sort);
  const Indices at = argmax(decoded_without(0, model, batch_of(pairs)).weights, -1);  // (B, H, T)
  double right = 0, cases = 0;
  for_each_letter(pairs, [&](std::size_t b, std::size_t t) {
    for (std::size_t h = 0; h < at.shape(1); ++h) {
      const Tokens& target = pairs[b].target;
      std::size_t next = t;
      while (target[next] != stop && own[std::size_t(target[next])] != h) ++next;
      if (target[next] == stop) continue;
      right += pairs[b].source[std::size_t(at(b, h, t))] == target[next];
      cases += 1;
    }
  });
  return right / cases;
}

// One seed of the row of a task: which fraction of the letters has the largest weight, and which is
// right without a head. Mean of the ten letters, each on the pairs that report.
template <class Transformer>
void add_seed(HeadRow& row, const Transformer& model, const Data& data, std::int64_t task) {
  const std::vector<Pair> pairs = data.held_out(task, 0, 50);
  const Array looks = looks_at_letters(model, pairs);
  const std::vector<std::size_t> own = heads_of_letters(model, data, task);
  const std::size_t heads = looks.shape(1) - 1, best = best_head(model, data, task);
  double of_own = 0;
  for (std::size_t letter = 0; letter < own.size(); ++letter)
    of_own += looks(letter, own[letter]) / double(own.size());
  row.of_mean.push_back(xt::mean(xt::col(looks, std::ptrdiff_t(heads)))());
  row.of_best.push_back(xt::mean(xt::col(looks, std::ptrdiff_t(best)))());
  row.of_own.push_back(of_own);
  const Batch batch = batch_of(pairs);
  double right[3] = {0, 0, 0}, letters = 0;  // with all heads, without the own one, another one
  for (std::size_t h = 0; h <= heads; ++h) {
    const Indices predicted = argmax(decoded_without(h, model, batch).logits, -1);
    for_each_letter(pairs, [&](std::size_t b, std::size_t t) {
      const std::int64_t letter = pairs[b].target[t];
      const std::size_t which = h == heads ? 0 : h == own[std::size_t(letter)] ? 1 : 2;
      right[which] += double(predicted(b, t) == letter) / (which == 2 ? double(heads - 1) : 1);
      letters += h == heads;
    });
  }
  row.with_all.push_back(right[0] / letters), row.without_own.push_back(right[1] / letters);
  row.without_another.push_back(right[2] / letters);
}

template <class Models>
HeadRow rows_of_heads(const Models& models, const Data& data, std::int64_t task) {
  HeadRow row{task_names[std::size_t(task - reverse)]};
  for (const auto& model : models) add_seed(row, model, data, task);
  return row;
}

// How often a random letter of the source is the one that is copied.
inline double random_look(const std::vector<Pair>& pairs) {
  double expected = 0, letters = 0;
  for_each_letter(pairs, [&](std::size_t b, std::size_t t) {
    const std::size_t n = pairs[b].source.size() - 2;
    for (std::size_t s = 1; s <= n; ++s) expected += is_copied(pairs[b], t, s) / double(n);
    letters += 1;
  });
  return expected / letters;
}

inline std::string table_of_weights(const std::vector<HeadRow>& rows, const Data& data) {
  std::string table =
      "largest weight on the copied letter, of\n"
      "         the mean of the heads  the best head  the letter's head  random weights";
  for (std::size_t i = 0; i < rows.size(); ++i)
    table += "\n" + pad_right(rows[i].task, 9) + pad_right(mean_and_error(rows[i].of_mean), 23) +
             pad_right(mean_and_error(rows[i].of_best), 15) +
             pad_right(mean_and_error(rows[i].of_own), 19) +
             decimal(random_look(data.held_out(reverse + std::int64_t(i), 0, 50)), 2);
  return table;
}

// The letters of each head, a row for each seed.
template <class Models>
std::string table_of_heads(const Models& models, const Data& data) {
  std::string table = "sort     head 0   head 1   head 2   head 3";
  for (std::size_t m = 0; m < models.size(); ++m) {
    Names letters(4);
    const std::vector<std::size_t> heads = heads_of_letters(models[m], data, sort);
    for (std::size_t x = 0; x < heads.size(); ++x) letters[heads[x]] += char('a' + x);
    table += "\nseed " + std::to_string(m + 1) + "   ";
    for (const std::string& of_head : letters) table += pad_right(of_head, 9);
    table.resize(table.find_last_not_of(' ') + 1);
  }
  return table;
}

// The weights of a model for the same letters: the means of the heads, and each head of 'sort'.
template <class Transformer>
void picture_of_alignment(const Transformer& model, const Data& data) {
  std::size_t i = 0;  // the first source of seven different letters
  while (data.held_out_of_length(sort, 7, i, 1)[0].target.size() < 8) ++i;
  const auto weights_for = [&](std::int64_t task) {
    const Batch batch = batch_of(data.held_out_of_length(task, 7, i, 1));
    return Array(xt::view(decoded_without(0, model, batch).weights.value(), 0));  // (H, T, S)
  };
  const Array reversed = weights_for(reverse), sorted = weights_for(sort);
  std::vector<Array> panels = {xt::mean(reversed, {0}), xt::mean(sorted, {0})};
  Names titles = {"reverse: mean of the heads", "sort: mean of the heads"};
  for (std::size_t h = 0; h < sorted.shape(0); ++h) {
    panels.push_back(Array(xt::view(sorted, h)));
    titles.push_back("sort: head " + std::to_string(h));
  }
  const Pair pair = data.held_out_of_length(sort, 7, i, 1)[0];
  Names columns = names_of(pair.source), rows = names_of(pair.target);
  columns[0] = "task";
  for (std::size_t t = 0; t + 1 < rows.size(); ++t)
    rows[t] = columns[columns.size() - 2 - t] + " | " + rows[t];
  picture("20_encoder_decoder", "alignment", panels, titles,
          {"", rows, columns, "letter to write: reverse | sort", "key position", 0, 1}, 2);
}

template <class Models>
AblationRow ablation_row(const std::string& removed, const Models& models, const Data& data) {
  const NoGrad no_grad;
  AblationRow row{removed};
  for (const std::int64_t task : {reverse, sort, shuffle})
    row.matches.push_back(exact_matches(models, data.held_out(task, 0, 50)));
  const Batch shuffled = batch_of(data.held_out(shuffle, 0, 50));
  for (const auto& model : models) row.losses.push_back(loss_of(model, shuffled).item());
  return row;
}

}  // namespace heed
