// small_run.hpp: a text, a model and a run small enough to train in a moment.
#pragma once

#include <string>
#include <vector>

#include "heed/train/model_file.hpp"
#include "near.hpp"

namespace heed::test {

// Twelve hundred letters with some order to them: every word follows from the one before.
inline std::string small_text() {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "the cat sat on the mat; a dog dug. ";
  return text;
}

struct Text {
  std::string letters = small_text();
  Vocabulary vocabulary = Vocabulary::of_text(letters);
  Corpus corpus{letters, vocabulary};
};

inline nn::GptConfig small_model(const Text& text) {
  nn::GptConfig config;
  config.vocab_size = text.vocabulary.size();
  config.block_size = 12;
  config.layers = 2;
  config.heads = 2;
  config.embed_dim = 16;
  return config;
}

inline TrainOptions few_steps(std::int64_t steps, double dropout = 0) {
  TrainOptions options;
  options.batch_size = 4;
  options.steps = steps;
  options.lr = 1e-2;
  options.warmup = 4;
  options.decay_steps = 100;
  options.dropout = dropout;
  options.eval_every = 10;
  options.eval_batches = 2;
  options.log_every = 5;
  return options;
}

struct Run {
  explicit Run(const TrainOptions& options) : trainer(text.corpus, small_model(text), options) {}
  void steps(std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) trainer.step();
  }
  Text text;
  Trainer trainer;
};

inline bool same_parameters(const Trainer& a, const Trainer& b) {
  for (const Tensor& parameter : a.parameters())
    if (!same_bits(parameter.value(), b.parameters().at(parameter.name()).value())) return false;
  return true;
}

// Losses, rates and norms to the last bit; times are never the same.
inline std::string history(const Trainer& trainer) {
  std::vector<LogRow> rows = trainer.history();
  for (LogRow& row : rows) row.ms = 0;
  return csv(rows);
}

}  // namespace heed::test
