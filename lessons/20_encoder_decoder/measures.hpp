// measures.hpp: alignment, interventions and bounds of lesson 20.
#pragma once

#include <cmath>
#include <functional>

#include "pictures.hpp"

namespace heed {

// The fraction of the output letters that are copied from their position (B, T).
inline double aligned_fraction(const std::vector<Pair>& pairs, const Indices& positions) {
  double letters = 0, right = 0;
  for (std::size_t b = 0; b < pairs.size(); ++b)
    for (std::size_t t = 0; t + 1 < pairs[b].target.size(); ++t, ++letters)
      right += is_copied(pairs[b], t, std::size_t(positions(b, t)));
  return right / letters;
}

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
// and predicts this letter again, from the same decoder input. Returns the fraction of predictions
// that change. (A position without a letter does not count.)
inline double changed_predictions(
    const std::function<Tensor(const Indices&, const Indices&)>& model,
    const std::vector<Pair>& pairs, const Indices& positions) {
  const NoGrad no_grad;
  const Batch batch = batch_of(pairs);
  const Indices before = argmax(model(batch.source, batch.input), -1);  // (B, T)
  Generator g(7);
  double count = 0, changed = 0;
  for (std::size_t t = 0; t + 1 < before.shape(1); ++t) {
    Indices source = batch.source;
    const Indices shift = g.randint(1, num_letters, {pairs.size()});
    std::vector<std::size_t> counted;
    for (std::size_t b = 0; b < pairs.size(); ++b) {
      std::int64_t& letter = source(b, std::size_t(positions(b, t)));
      if (letter >= num_letters || t + 1 >= pairs[b].target.size()) continue;
      letter = (letter + shift(b)) % num_letters;
      counted.push_back(b);
    }
    const Indices after = argmax(model(source, batch.input), -1);
    count += double(counted.size());
    for (const std::size_t b : counted) changed += after(b, t) != before(b, t);
  }
  return changed / count;
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

// The fraction of the pairs whose whole output is right. The functions below call greedy_outputs,
// attended and loss_of of lesson.cpp.
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

// The fraction of outputs for which the largest weight is on the copied letter: for the mean of the
// heads, and for the best head, which is chosen on other sequences.
template <class Transformer>
std::vector<double> aligned(const Transformer& model, const Data& data, std::int64_t task) {
  const std::vector<Pair> pairs = data.held_out(task, 0, 25), others = data.held_out(task, 50, 50);
  std::size_t best = 0;
  for (std::size_t h = 1; h < model.decoder.blocks[0].cross.num_heads; ++h)
    if (aligned_fraction(others, attended(model, others, h)) >
        aligned_fraction(others, attended(model, others, best)))
      best = h;
  return {aligned_fraction(pairs, attended(model, pairs)),
          aligned_fraction(pairs, attended(model, pairs, best))};
}

// The fraction of predictions that change if the source letter with the largest weight is replaced,
// or the copied letter, or a random one.
template <class Models>
std::vector<InterventionRow> interventions(const Models& models, const Data& data) {
  std::vector<InterventionRow> rows = {
      {"of the largest weight"}, {"that is copied"}, {"at random"}};
  for (const auto& model : models)
    for (const int column : {0, 1}) {
      const std::vector<Pair> pairs = data.held_out(column == 0 ? reverse : sort, 0, 25);
      rows[0].add(column, changed_predictions(model, pairs, attended(model, pairs)));
      rows[1].add(column, changed_predictions(model, pairs, copied_positions(pairs)));
      rows[2].add(column, changed_predictions(model, pairs, random_positions(pairs)));
    }
  return rows;
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
