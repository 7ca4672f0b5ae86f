// text_helpers.hpp: reading the text of lesson 15, counting in it, and printing and plotting.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>

#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/utf8.hpp"
#include "heed/train/trainer.hpp"
#include "lesson.hpp"

namespace heed {

using Ids = std::vector<std::int64_t>;

const std::size_t kilobyte = 1112;  // tokens, so that the training part has a thousand
inline bool own_text = false;

// The reader's own text, or the play that comes with heed.
inline std::string text_to_learn(int count, char** arguments) {
  own_text = count > 1;
  const std::string path = own_text ? arguments[1] : HEED_DATA_DIR "/harbour.txt";
  std::string text = read_text(path);
  if (has_byte_order_mark(text)) text.erase(0, 3);
  std::size_t tokens = 0;
  try {
    tokens = Vocabulary::of_text(text).encode(text).size();
  } catch (const Error& error) {
    throw_error(path, ": ", error.what(), " (of ./heed train)");
  }
  if (tokens < kilobyte)
    throw_error(path, ": has ", tokens, " characters; this lesson needs ", kilobyte, " or more");
  return text;
}

inline Names characters_of(const std::string& text) {
  Names characters;
  for (std::size_t i = 0; i < text.size(); i += characters.back().size())
    characters.emplace_back(character_at(text, i));
  return characters;
}

// A claim that holds for the play, but perhaps not for every text.
inline void claim_of_text(const std::string& what, bool holds, double came) {
  if (holds || !own_text) return claim(what, holds, decimal(came, 4));
  say("  does not hold for this text: " + what + ": " + decimal(came, 4));
}

inline Array numbers(const Indices& ids) { return xt::cast<Real>(ids); }
inline Array numbers(const Ids& ids) { return numbers(Indices(xt::adapt(ids, {ids.size()}))); }
inline Array number(double value) { return scalar(static_cast<Real>(value)); }

// A row of a batch, as ids or as characters: "  31  34  26   1", "   T   W   O   ␣".
inline std::string row_of(const Indices& ids, std::size_t b,
                          const Vocabulary* vocabulary = nullptr) {
  std::string text;
  for (std::size_t t = 0; t < ids.shape(1); ++t)
    text += pad_left(
        vocabulary ? printable(vocabulary->decode(ids(b, t))) : std::to_string(ids(b, t)), 4);
  return text;
}

// The mean of -ln p(next token | k tokens before it) over the text's first positions. The counts in
// the same positions give the probabilities.
inline double loss_of_counts(const Ids& text, std::size_t k, std::size_t positions) {
  std::map<Ids, std::map<std::int64_t, double>> next_tokens;
  for (std::size_t s = 0; s < positions; ++s)
    next_tokens[{&text[s], &text[s] + k}][text[s + k]] += 1;
  double loss = 0;
  for (const auto& [context, counts] : next_tokens) {
    double all = 0;
    for (const auto& [token, count] : counts) all += count;
    for (const auto& [token, count] : counts) loss -= count * std::log(count / all);
  }
  return loss / double(positions);
}

// All weights in one array.
inline Array all_weights(const Parameters& parameters) {
  Array all = zeros({parameters.count()});
  auto end = all.begin();
  for (const Tensor& w : parameters) end = std::copy(w.value().begin(), w.value().end(), end);
  return all;
}

inline std::string in_words(const LogRow& row) {
  return "step " + pad_left(std::to_string(row.step), 4) + "   training " +
         trained(row.train_loss) + "   validation " + trained(*row.val_loss);
}

inline std::vector<Series> curves_of(const std::vector<LogRow>& history) {
  Series training{"training", {}, {}}, validation{"validation", {}, {}, /*points=*/true};
  for (const LogRow& row : history) {
    training.append(double(row.step), row.train_loss);
    if (row.val_loss) validation.append(double(row.step), *row.val_loss);
  }
  return {training, validation};
}

// The mean of -ln p(target) over a batch, where p is the softmax of the logits (B, T, V).
inline double cross_entropy_by_hand(const Array& logits, const Indices& targets) {
  double sum = 0;
  for (std::size_t b = 0; b < logits.shape(0); ++b)
    for (std::size_t t = 0; t < logits.shape(1); ++t) {
      double denominator = 0;
      for (std::size_t v = 0; v < logits.shape(2); ++v)
        denominator += std::exp(double(logits(b, t, v)));
      sum -= std::log(std::exp(double(logits(b, t, targets(b, t)))) / denominator);
    }
  return sum / double(targets.size());
}

inline void picture_of(const Trainer& trainer, double unigram, double bigram, double n_gram) {
  CurveOptions axes{"loss of a character-level model", "step", "loss (nats per token)"};
  axes.lines = {{"ln V", std::log(double(trainer.model().config.vocab_size))},
                {"unigram entropy", unigram},
                {"bigram entropy", bigram},
                {"best n-gram model", n_gram}};
  picture("15_your_text", "training", curves_of(trainer.history()), axes);
}

inline void picture_of(const optim::WarmupCosine& schedule, const TrainOptions& options) {
  Series rates{"learning rate", {}, {}};
  for (std::int64_t step = 0; step < options.steps; ++step)
    rates.append(double(step), schedule.at(step));
  CurveOptions axes{"linear warm-up, then half a cosine", "step", "learning rate"};
  axes.lines = {{"maximum", options.lr}, {"minimum", options.min_lr}};
  picture("15_your_text", "schedule", {rates}, axes);
}

}  // namespace heed
