// measures.hpp: alignment, interventions and bounds of lesson 20.
#pragma once

#include <cmath>
#include <functional>
#include <optional>

#include "pictures.hpp"

namespace heed {

// For each letter of the targets (B, T), the first position that it is copied from.
inline Indices copied_positions(const std::vector<Pair>& pairs) {
  Indices positions = indices({pairs.size(), longest_target(pairs)}, 0);
  for (std::size_t b = 0; b < pairs.size(); ++b)
    for (std::size_t t = 0; t + 1 < pairs[b].target.size(); ++t)
      while (!is_copied(pairs[b], t, std::size_t(positions(b, t)))) ++positions(b, t);
  return positions;
}

// A random letter of the source for each letter of the targets.
inline Indices random_positions(const std::vector<Pair>& pairs) {
  Generator g(5);
  Indices positions = indices({pairs.size(), longest_target(pairs)}, 0);
  for (std::size_t b = 0; b < pairs.size(); ++b)
    for (std::size_t t = 0; t + 1 < pairs[b].target.size(); ++t)
      positions(b, t) = g.randint(1, std::int64_t(pairs[b].source.size()) - 1, {1})(0);
  return positions;
}

// Replaces the source letter at positions(b, t) by a random other letter, for each target letter t,
// and predicts this letter again, from the same decoder input. A position without a letter does not
// count.
inline Changes changes(const std::function<Tensor(const Indices&, const Indices&)>& model,
                       const std::vector<Pair>& pairs, const Indices& positions) {
  const NoGrad no_grad;
  const Batch batch = batch_of(pairs);
  const Indices before = argmax(model(batch.source, batch.input), -1);  // (B, T)
  Generator g(7);
  double letters = 0, changed[2] = {0, 0}, all[2] = {0, 0};  // if the right answer stays, changes
  for (std::size_t t = 0; t + 1 < before.shape(1); ++t) {
    Indices source = batch.source;
    const Indices shift = g.randint(1, num_letters, {pairs.size()});
    std::vector<std::size_t> replaced;
    for (std::size_t b = 0; b < pairs.size(); ++b) {
      if (t + 1 >= pairs[b].target.size()) continue;
      ++letters;
      std::int64_t& letter = source(b, std::size_t(positions(b, t)));
      if (letter >= num_letters) continue;
      letter = (letter + shift(b)) % num_letters;
      replaced.push_back(b);
    }
    const Indices after = argmax(model(source, batch.input), -1);
    for (const std::size_t b : replaced) {
      const Tokens now = target_of(row_of(source, b));
      const bool other_answer = t >= now.size() || now[t] != pairs[b].target[t];
      all[other_answer] += 1, changed[other_answer] += after(b, t) != before(b, t);
    }
  }
  const double counted = all[0] + all[1];
  return {counted / letters, all[1] / counted, changed[1] / all[1], changed[0] / all[0]};
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

// Where the letter at position s of the source is in the target: 0 for the letter that is written
// at t, 1 for the next one, -1 for the one before. Nothing if there is no letter at s.
inline std::optional<int> target_offset(const Pair& pair, std::size_t t, std::size_t s) {
  if (s >= pair.source.size() || pair.source[s] >= num_letters) return std::nullopt;
  const std::size_t n = pair.source.size() - 2;
  const Tokens& target = pair.target;
  const auto at = pair.source[0] == reverse
                      ? std::ptrdiff_t(n - s)
                      : std::find(target.begin(), target.end(), pair.source[s]) - target.begin();
  return int(at) - int(t);
}

// Of the target letters: the fractions whose position (B, T) has the letter before, the letter that
// is copied, the next letter, another one, and none.
inline std::vector<double> offset_fractions(const std::vector<Pair>& pairs,
                                            const Indices& positions) {
  std::vector<double> counts(5, 0);
  double letters = 0;
  for (std::size_t b = 0; b < pairs.size(); ++b)
    for (std::size_t t = 0; t + 1 < pairs[b].target.size(); ++t, ++letters) {
      const std::optional<int> offset = target_offset(pairs[b], t, std::size_t(positions(b, t)));
      ++counts[!offset ? 4 : *offset < -1 || *offset > 1 ? 3 : std::size_t(*offset + 1)];
    }
  for (double& count : counts) count /= letters;
  return counts;
}

// The fractions for the largest weight of each model.
template <class Models>
LooksRow looks(const std::string& name, const Models& models, const Data& data, std::int64_t task) {
  LooksRow row{name};
  const std::vector<Pair> pairs = data.held_out(task, 0, 25);
  for (const auto& model : models) row.add(offset_fractions(pairs, attended(model, pairs)));
  return row;
}

inline LooksRow random_looks(const Data& data) {
  LooksRow row{"sort, random letter"};
  const std::vector<Pair> pairs = data.held_out(sort, 0, 25);
  row.add(offset_fractions(pairs, random_positions(pairs)));
  return row;
}

// How often a prediction and the right answer change if the letter of the largest weight is
// replaced, or the one that is copied, or a random one.
template <class Models>
std::vector<InterventionRow> interventions(const Models& models, const Data& data) {
  std::vector<InterventionRow> rows = {{"largest weight"}, {"copied"}, {"random"}};
  for (const auto& model : models)
    for (const std::size_t task : {0, 1}) {
      const std::vector<Pair> pairs = data.held_out(task == 0 ? reverse : sort, 0, 25);
      rows[0].add(task, changes(model, pairs, attended(model, pairs)));
      rows[1].add(task, changes(model, pairs, copied_positions(pairs)));
      rows[2].add(task, changes(model, pairs, random_positions(pairs)));
    }
  return rows;
}

// The weights of a model for the same letters, to reverse and to sort.
template <class Transformer>
void picture_of_alignment(const Transformer& model, const Data& data) {
  std::size_t i = 0;  // the first source of seven different letters
  while (data.held_out_of_length(sort, 7, i, 1)[0].target.size() < 8) ++i;
  std::vector<Array> panels;
  Names titles, rows;
  Pair pair;
  for (const std::int64_t task : {reverse, sort}) {
    pair = data.held_out_of_length(task, 7, i, 1)[0];
    panels.push_back(xt::mean(cross_weights(model, batch_of({pair})), {0, 1}));
    titles.push_back(task_names[std::size_t(task - reverse)] + " writes " + text_of(pair.target));
  }
  Names columns = names_of(pair.source);
  columns[0] = "task";
  for (std::size_t t = 1; t < panels[0].shape(0); ++t) rows.push_back(std::to_string(t));
  rows.push_back("<stop>");
  picture("20_encoder_decoder", "alignment", panels, titles,
          {"", rows, columns, "number of the letter to write", "key position", 0, 1}, 2);
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
