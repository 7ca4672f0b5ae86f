// fill_in_the_blank.cpp: masking, the masked language model and its training.

#include <algorithm>
#include <filesystem>

#include "fill_in_the_blank.hpp"
#include "heed/files/model_file.hpp"

namespace heed {

Indices encoded(const Vocabulary& vocabulary, const std::vector<Names>& texts) {
  Indices tokens = xt::zeros<std::int64_t>({texts.size(), texts.at(0).size()});
  for (std::size_t n = 0; n < texts.size(); ++n)
    for (std::size_t t = 0; t < texts[n].size(); ++t) tokens(n, t) = vocabulary.find(texts[n][t]);
  return tokens;
}

Indices encoded(const Vocabulary& vocabulary, const std::string& text) {
  const std::vector<std::int64_t> ids = vocabulary.encode(text);
  Indices tokens = xt::zeros<std::int64_t>({std::size_t(1), ids.size()});
  std::copy(ids.begin(), ids.end(), tokens.begin());
  return tokens;
}

std::vector<Names> texts_of(const std::vector<Sentence>& sentences) {
  std::vector<Names> texts;
  for (const Sentence& s : sentences) texts.push_back(s.words);
  return texts;
}

Masked masked(const Indices& tokens, const Masking& masking, Generator& generator) {
  const Shape shape = {tokens.shape(0), tokens.shape(1)};
  const Array choice = generator.rand(shape), action = generator.rand(shape);
  const Indices random_words = generator.randint(masking.first_word, masking.vocab_size, shape);
  Masked m{tokens, tokens};
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::int64_t token = tokens.data()[i];
    const bool is_word = token != masking.stop && token >= masking.first_word;
    if (!is_word || choice.data()[i] >= Real(0.15))
      m.targets.data()[i] = -100;
    else if (action.data()[i] < Real(0.8))
      m.seen.data()[i] = masking.mask;
    else if (action.data()[i] < Real(0.9))
      m.seen.data()[i] = random_words.data()[i];
  }
  return m;
}

static nn::GptConfig config_of(const Vocabulary& vocabulary, bool causal) {
  nn::GptConfig config;
  config.vocab_size = vocabulary.size();
  config.block_size = 10;  // the longest sentence: nine words and an "old" or "again"
  config.layers = 2;
  config.heads = 4;
  config.embed_dim = 32;
  config.tied = false;
  config.causal = causal;
  return config;
}

BlankModel::BlankModel(std::uint64_t seed, bool causal)
    : generator(seed), gpt(Scope(parameters, generator), config_of(vocabulary, causal)) {
  for (Tensor weight : parameters) {
    if (weight.dim() < 2) continue;
    Array larger = weight.value() * Real(8);  // GPT-2's 0.02 is for an embed_dim of hundreds
    weight.mutable_value() = larger;
  }
}

std::vector<Sentence> training_sentences_about_objects(std::size_t count) {
  Generator generator(17);
  std::vector<Sentence> sentences;
  for (std::int64_t i = 0; sentences.size() < count; ++i)
    for (const Sentence& s :
         draw_sentences(generator, 16, From::training, static_cast<Extra>(i % 3)))
      if (s.of_object && sentences.size() < count) sentences.push_back(s);
  return sentences;
}

std::vector<Names> training_texts(Generator& generator) {
  const auto extra = static_cast<Extra>(generator.randint(0, 3, {1})(0));
  return texts_of(draw_sentences(generator, 64, From::training, extra));
}

std::vector<double> train(const nn::Gpt& gpt, const Parameters& parameters,
                          const optim::WarmupCosine& rate,
                          const std::function<Masked()>& next_batch) {
  optim::AdamWOptions options;
  options.beta2 = 0.99;
  optim::AdamW optimizer(parameters.tensors(), options);
  std::vector<double> losses;
  for (std::int64_t step = 0; step < rate.decay_steps; ++step) {
    const Masked batch = next_batch();
    const Tensor loss = cross_entropy(gpt(batch.seen), batch.targets);
    optim::zero_grad(parameters.tensors());
    backward(loss);
    optim::clip_grad_norm(parameters.tensors(), 1);
    optimizer.set_lr(rate.at(step));
    optimizer.step();
    losses.push_back(static_cast<double>(loss.item()));
  }
  return losses;
}

Masking masking_of(const BlankModel& model) {
  const Vocabulary& words = model.vocabulary;
  return {words.find("[MASK]"), words.find("."), 0, static_cast<std::int64_t>(words.size())};
}

std::vector<double> train(const BlankModel& model, std::int64_t steps, Generator generator) {
  return train(model.gpt, model.parameters, {0.007, 0.0001, 50, steps}, [&] {
    const Indices tokens = encoded(model.vocabulary, training_texts(generator));
    return masked(tokens, masking_of(model), generator);
  });
}

void save(const BlankModel& model, const std::string& folder) {
  std::filesystem::create_directories(folder);
  save_model(folder + "/checkpoint.safetensors", model.parameters, model.gpt.config,
             model.vocabulary);
}

Series series_of(const std::string& name, const std::vector<double>& losses) {
  Series curve{name, {}, {}};
  for (std::size_t i = 0; i < losses.size(); ++i) curve.append(double(i), losses[i]);
  return curve;
}

}  // namespace heed
