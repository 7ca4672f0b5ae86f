// fill_in_the_blank.cpp: masking, the masked language model and its training.

#include "fill_in_the_blank.hpp"

#include <algorithm>
#include <filesystem>

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

Masked masked(const Indices& tokens, const Vocabulary& vocabulary, Generator& generator) {
  const std::int64_t mask = vocabulary.find("[MASK]"), stop = vocabulary.find(".");
  const auto V = static_cast<std::int64_t>(vocabulary.size());
  const Shape shape = {tokens.shape(0), tokens.shape(1)};
  const Array choice = generator.rand(shape), action = generator.rand(shape);
  const Indices random_words = generator.randint(0, V, shape);
  Masked m{tokens, tokens};
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool chosen = tokens.data()[i] != stop && choice.data()[i] < Real(0.15);
    if (!chosen)
      m.targets.data()[i] = -100;
    else if (action.data()[i] < Real(0.8))
      m.seen.data()[i] = mask;
    else if (action.data()[i] < Real(0.9))
      m.seen.data()[i] = random_words.data()[i];
  }
  return m;
}

MaskedFractions fractions_of(const Masked& m, const Indices& tokens, const Vocabulary& vocabulary) {
  double all = 0, chosen = 0, mask = 0, unchanged = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    all += tokens.data()[i] != vocabulary.find(".") ? 1 : 0;
    if (m.targets.data()[i] == -100) continue;
    chosen += 1;
    mask += m.seen.data()[i] == vocabulary.find("[MASK]") ? 1 : 0;
    unchanged += m.seen.data()[i] == tokens.data()[i] ? 1 : 0;
  }
  return {chosen / all, mask / chosen, unchanged / chosen};
}

std::string described(const Masked& m, std::size_t sentence, const Vocabulary& vocabulary) {
  Names seen, targets;
  for (std::size_t t = 0; t < m.seen.shape(1); ++t) {
    seen.push_back(vocabulary.decode(m.seen(sentence, t)));
    if (m.targets(sentence, t) != -100)
      targets.push_back(vocabulary.decode(m.targets(sentence, t)));
  }
  return pad_right(text_of(seen), 50) + "targets " + (targets.empty() ? "none" : text_of(targets));
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

Masked next_batch(const BlankModel& model, Generator& generator) {
  const auto extra = static_cast<Extra>(generator.randint(0, 3, {1})(0));
  const std::vector<Names> texts = texts_of(draw_sentences(generator, 64, From::training, extra));
  return masked(encoded(model.vocabulary, texts), model.vocabulary, generator);
}

std::vector<double> train(BlankModel& model, std::int64_t steps,
                          const std::function<void(std::int64_t)>& after_step) {
  set_num_threads(1);  // batches this small are not faster with two
  const std::vector<Tensor>& parameters = model.parameters.tensors();
  optim::AdamWOptions options;
  options.beta2 = 0.99;
  optim::AdamW optimizer(parameters, options);
  const optim::WarmupCosine rate{0.007, 0.0001, 50, steps};
  Generator generator(19);
  std::vector<double> losses;
  for (std::int64_t step = 0; step < steps; ++step) {
    const Masked batch = next_batch(model, generator);
    const Tensor loss = cross_entropy(model.gpt(batch.seen), batch.targets);
    optim::zero_grad(parameters);
    backward(loss);
    optim::clip_grad_norm(parameters, 1);
    optimizer.set_lr(rate.at(step));
    optimizer.step();
    losses.push_back(static_cast<double>(loss.item()));
    if (after_step) after_step(step + 1);
  }
  return losses;
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

std::vector<double> means_of(const std::vector<double>& losses, std::size_t many) {
  std::vector<double> means;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (i % many == 0) means.push_back(0);
    means.back() +=
        losses[i] / static_cast<double>(std::min(many, losses.size() - i / many * many));
  }
  return means;
}

void draw_losses(const std::string& lesson, const std::vector<double>& losses,
                 const Series& held_out, double uniform, double entropy) {
  Series curve{"training, mean of 20 steps", {}, means_of(losses, 20)};
  for (std::size_t i = 0; i < curve.y.size(); ++i)
    curve.x.push_back(20 * static_cast<double>(i) + 10);
  CurveOptions options{"loss of a masked language model", "step", "loss (nats per chosen token)"};
  options.lines = {{"uniform distribution", uniform}, {"entropy, one [MASK]", entropy}};
  picture(lesson, "loss", {curve, held_out}, options);
}

}  // namespace heed
