// small_model.hpp: a small GPT, a text and a training run for tests.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "heed/files/model_file.hpp"
#include "near.hpp"

namespace heed::test {

struct ModelSize {
  std::size_t block_size = 12, embed_dim = 16, layers = 2, heads = 2;
};

inline nn::GptConfig small_config(std::size_t vocab_size, const ModelSize& size = {}) {
  nn::GptConfig config;
  config.vocab_size = vocab_size;
  config.block_size = size.block_size;
  config.embed_dim = size.embed_dim;
  config.layers = size.layers;
  config.heads = size.heads;
  return config;
}

// Changes a configuration to attention without a causal mask.
inline nn::GptConfig bidirectional(nn::GptConfig config) {
  config.causal = false;
  return config;
}

// Changes a configuration to the variants of Llama: half as many heads of keys and values, RMSNorm,
// rotary positions and SwiGLU.
inline nn::GptConfig llama_like(nn::GptConfig config) {
  config.kv_heads = config.heads / 2;
  config.norm = nn::NormKind::rms;
  config.positions = nn::PositionKind::rotary;
  config.mlp = nn::MlpKind::swiglu;
  return config;
}

// A new model with random initial weights, which the seed determines.
struct SmallModel {
  explicit SmallModel(const nn::GptConfig& model_config, std::uint64_t seed = 1337)
      : generator(seed), config(model_config), gpt(Scope(parameters, generator), config) {}

  Parameters parameters;
  Generator generator;
  nn::GptConfig config;
  nn::Gpt gpt;
};

// Saves a model of three words whose parameters with `part` in their names are 0.
inline void save_partly_zero_model(const std::filesystem::path& path, const std::string& part) {
  const Vocabulary vocabulary = Vocabulary::from_words("[MASK] the cat");
  const SmallModel model(small_config(vocabulary.size(), {8, 8}), 3);
  for (Tensor parameter : model.parameters)
    if (parameter.name().find(part) != std::string::npos)
      parameter.mutable_value() = zeros(parameter.shape());
  save_model(path, model.parameters, model.config, vocabulary);
}

// Vocabulary size 5, block size 6, two layers of two heads, and weights from normal(0, 0.5),
// which are large enough to make the heads differ.
struct RandomModel : SmallModel {
  RandomModel(bool causal, std::uint64_t seed)
      : SmallModel(causal ? small_config(5, {6, 8}) : bidirectional(small_config(5, {6, 8})),
                   seed) {
    for (Tensor parameter : parameters)
      parameter.mutable_value() = generator.normal(parameter.shape(), 0, 0.5);
  }
};

// 1,400 characters with predictable words.
inline std::string small_text() {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "the cat sat on the mat; a dog dug. ";
  return text;
}

struct Text {
  explicit Text(std::string characters = small_text()) : letters(std::move(characters)) {}

  std::string letters;
  Vocabulary vocabulary = Vocabulary::of_text(letters);
  Corpus corpus{letters, vocabulary};
};

inline nn::GptConfig small_config(const Text& text, const ModelSize& size = {}) {
  return small_config(text.vocabulary.size(), size);
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

enum class ModelKind { gpt2, llama };

// A trainer and the text that it trains on.
struct Run {
  explicit Run(const TrainOptions& options, const std::string& characters = small_text(),
               const ModelSize& size = {}, ModelKind kind = ModelKind::gpt2)
      : text(characters),
        trainer(text.corpus,
                kind == ModelKind::llama ? llama_like(small_config(text, size))
                                         : small_config(text, size),
                options) {}
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

// The loss history as CSV with times of 0, since the times differ from run to run.
inline std::string history(const Trainer& trainer) {
  std::vector<LogRow> rows = trainer.history();
  for (LogRow& row : rows) row.ms = 0;
  return csv(rows);
}

}  // namespace heed::test
