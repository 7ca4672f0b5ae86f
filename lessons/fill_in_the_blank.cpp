// fill_in_the_blank.cpp: masking, training and evaluation of the masked language model.

#include "fill_in_the_blank.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "heed/array/parallel.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/softmax.hpp"
#include "heed/optim/adamw.hpp"
#include "heed/optim/schedule.hpp"
#include "heed/study/ablation.hpp"
#include "heed/study/heads.hpp"
#include "heed/train/model_file.hpp"

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

std::vector<double> train(BlankModel& model, std::int64_t steps) {
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
  }
  return losses;
}

void save(const BlankModel& model, const std::string& folder) {
  std::filesystem::create_directories(folder);
  save_model(folder + "/checkpoint.safetensors", model.parameters, model.gpt.config,
             model.vocabulary);
}

Array answers(const BlankModel& model, const std::vector<Sentence>& sentences, Part blank) {
  const NoGrad no_grad;
  Array all = zeros({sentences.size(), model.vocabulary.size()});
  for (std::size_t n = 0; n < sentences.size(); ++n) {
    const Indices tokens = encoded(model.vocabulary, {with_blank(sentences[n], blank)});
    const Array probabilities = softmax(model.gpt(tokens), -1).value();  // (1, T, V)
    xt::row(all, static_cast<std::ptrdiff_t>(n)) =
        xt::view(probabilities, 0, sentences[n].position(blank), xt::all());
  }
  return all;
}

double probability_of(const BlankModel& model, const Sentence& sentence, Part blank,
                      const Names& words) {
  const Array probabilities = answers(model, {sentence}, blank);  // (1, V)
  double sum = 0;
  for (const std::string& word : words)
    sum += static_cast<double>(
        probabilities(0, static_cast<std::size_t>(model.vocabulary.find(word))));
  return sum;
}

double accuracy(const BlankModel& model, const std::vector<Sentence>& sentences, Part blank) {
  const Array probabilities = answers(model, sentences, blank);
  double right = 0;
  for (std::size_t n = 0; n < sentences.size(); ++n) {
    const Real* row = probabilities.data() + n * probabilities.shape(1);
    const std::size_t best =
        static_cast<std::size_t>(std::max_element(row, row + probabilities.shape(1)) - row);
    right += fits(sentences[n], blank, model.vocabulary.words()[best]) ? 1 : 0;
  }
  return right / static_cast<double>(sentences.size());
}

double untrained_accuracy(const std::vector<Sentence>& sentences) {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    sum += accuracy(BlankModel(seed), sentences, Part::pronoun);
  return sum / 8;
}

Array logits_at_mask(const BlankModel& model, const std::string& text) {
  const NoGrad no_grad;
  const Indices tokens = encoded(model.vocabulary, text);
  const auto mask = std::find(tokens.begin(), tokens.end(), model.vocabulary.find("[MASK]"));
  return xt::view(model.gpt(tokens).value(), 0, mask - tokens.begin(), xt::all());
}

std::string filled(const BlankModel& model, const std::string& text) {
  const Array logits = logits_at_mask(model, text);
  const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
  return model.vocabulary.decode(best);
}

Chance chance(const Vocabulary& vocabulary, const std::vector<Sentence>& sentences, Part blank) {
  Chance c{0, 0};
  for (const std::string& word : vocabulary.words()) {
    const auto right = [&](const Sentence& s) { return fits(s, blank, word); };
    const auto count = std::count_if(sentences.begin(), sentences.end(), right);
    const double fraction = static_cast<double>(count) / static_cast<double>(sentences.size());
    c.evenly += fraction / static_cast<double>(vocabulary.size());
    c.one_word = std::max(c.one_word, fraction);
  }
  return c;
}

Array fill_blanks(const BlankModel& model, const std::vector<Sentence>& sentences) {
  Array accuracies = zeros({3, 3});
  std::size_t p = 0;
  for (const Part part : {Part::object, Part::pronoun, Part::ending}) {
    const Chance baseline = chance(model.vocabulary, sentences, part);
    accuracies(p, 0) = static_cast<Real>(accuracy(model, sentences, part));
    accuracies(p, 1) = static_cast<Real>(baseline.one_word);
    accuracies(p++, 2) = static_cast<Real>(baseline.evenly);
  }
  return accuracies;
}

// The entropy, in nats, of the distribution that is proportional to these weights.
static double entropy_of_weights(const std::vector<double>& weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  double nats = 0;
  for (const double weight : weights)
    if (weight > 0) nats -= weight / total * std::log(weight / total);
  return nats;
}

double perfect_loss(const Vocabulary& vocabulary, const std::vector<Sentence>& sentences) {
  double nats = 0, words = 0;
  for (const Sentence& s : sentences) {
    for (const Part part : {Part::subject, Part::verb, Part::object, Part::pronoun, Part::ending}) {
      std::vector<double> weights;
      for (const std::string& word : vocabulary.words())
        weights.push_back(weight_of(s, part, word));
      nats += entropy_of_weights(weights);
    }
    words += static_cast<double>(s.words.size() - 1);
  }
  return nats / words;
}

double one_blank_loss(const BlankModel& model, const std::vector<Sentence>& sentences) {
  const NoGrad no_grad;
  double nats = 0, words = 0;
  for (const Sentence& s : sentences)
    for (std::size_t t = 0; t + 1 < s.words.size(); ++t) {
      Indices tokens = encoded(model.vocabulary, {s.words});  // (1, T)
      const auto word = static_cast<std::size_t>(tokens(0, t));
      tokens(0, t) = model.vocabulary.find("[MASK]");
      const Array probabilities = softmax(model.gpt(tokens), -1).value();  // (1, T, V)
      nats -= std::log(static_cast<double>(probabilities(0, t, word)));
      words += 1;
    }
  return nats / words;
}

Array attention_to_object(const BlankModel& model, const std::vector<Sentence>& sentences) {
  Array mean = zeros({model.gpt.config.layers, model.gpt.config.heads});
  for (const Sentence& s : sentences) {
    const Indices tokens = encoded(model.vocabulary, {with_blank(s, Part::pronoun)});  // (1, T)
    const std::vector<LayerAttention> layers = capture_attention(model.gpt, tokens);
    for (std::size_t l = 0; l < mean.shape(0); ++l)
      for (std::size_t h = 0; h < mean.shape(1); ++h)
        mean(l, h) += layers[l].weights(0, h, s.position(Part::pronoun), s.position(Part::object)) /
                      static_cast<Real>(sentences.size());
  }
  return mean;
}

HeadIndex largest_head(const Array& weights) {
  const auto i =
      static_cast<std::size_t>(std::max_element(weights.begin(), weights.end()) - weights.begin());
  return {i / weights.shape(1), i % weights.shape(1)};
}

Array weights_of(const BlankModel& model, HeadIndex at, const std::string& text) {
  const std::vector<LayerAttention> layers =
      capture_attention(model.gpt, encoded(model.vocabulary, text));
  return xt::view(layers[at.layer].weights, 0, at.head);
}

Array accuracy_without(const BlankModel& model, const std::vector<Sentence>& sentences) {
  Array result = zeros({2, 4});
  for (std::size_t i = 0; i < 8; ++i) {
    const AblatedHead ablated(model.gpt, i / 4, i % 4);
    result(i / 4, i % 4) = static_cast<Real>(accuracy(model, sentences, Part::pronoun));
  }
  return result;
}

double accuracy_without_row(const BlankModel& model, const std::vector<Sentence>& sentences,
                            HeadIndex at) {
  const NoGrad no_grad;
  double right = 0;
  for (const Sentence& s : sentences) {
    const std::size_t t = s.position(Part::pronoun);
    Tensor x = model.gpt.embed(encoded(model.vocabulary, {with_blank(s, Part::pronoun)}));
    for (std::size_t l = 0; l < 2; ++l) {  // the blocks; x is (1, T, C)
      const nn::Block& block = model.gpt.blocks[l];
      Array attention = block.attention(block.norm1(x)).value();
      if (l == at.layer) {
        const AblatedHead ablated(model.gpt, l, at.head);
        xt::view(attention, 0, t) = xt::view(block.attention(block.norm1(x)).value(), 0, t);
      }
      x = x + Tensor(attention);
      x = x + block.mlp(block.norm2(x));
    }
    const Array output = xt::view(model.gpt.norm(x).value(), 0, t);        // (C)
    const Array logits = xt::linalg::dot(model.gpt.head.value(), output);  // (V, C) (C) is (V)
    const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
    right += fits(s, Part::pronoun, model.vocabulary.decode(best)) ? 1 : 0;
  }
  return right / static_cast<double>(sentences.size());
}

std::size_t QueryKeySpace::query(const std::string& word) const {
  return static_cast<std::size_t>(std::find(words.begin(), words.end(), word) - words.begin());
}

std::size_t QueryKeySpace::key(const std::string& word) const { return words.size() + query(word); }

Array QueryKeySpace::points() const { return xt::concatenate(xt::xtuple(queries, keys), 0); }

QueryKeySpace query_key_space(const BlankModel& model, HeadIndex at,
                              const std::vector<Names>& sentences) {
  QueryKeySpace space;
  std::vector<Real> queries, keys;
  for (const Names& words : sentences) {
    const LayerAttention layer =  // queries and keys: (1, H, T, D)
        capture_attention(model.gpt, encoded(model.vocabulary, {words}))[at.layer];
    for (std::size_t t = 0; t < words.size(); ++t) {
      if (space.query(words[t]) < space.words.size()) continue;
      space.words.push_back(words[t]);
      for (std::size_t d = 0; d < layer.keys.shape(3); ++d) {
        queries.push_back(layer.queries(0, at.head, t, d));
        keys.push_back(layer.keys(0, at.head, t, d));
      }
    }
  }
  const std::vector<std::size_t> shape = {space.words.size(), keys.size() / space.words.size()};
  space.queries = xt::adapt(queries, shape), space.keys = xt::adapt(keys, shape);
  return space;
}

Names nearest_keys(const QueryKeySpace& space, const Doubles& distances, const std::string& word,
                   std::size_t count) {
  std::vector<std::size_t> keys(space.words.size());
  std::iota(keys.begin(), keys.end(), space.words.size());
  Names found;
  while (found.size() < count) {
    const std::size_t best = nearest(distances, space.query(word), keys);
    keys.erase(std::find(keys.begin(), keys.end(), best));
    found.push_back(space.words[best - space.words.size()]);
  }
  return found;
}

bool is_noun(const std::string& word) {
  const auto in = [&](const Names& names) {
    return std::find(names.begin(), names.end(), word) != names.end();
  };
  return std::any_of(kinds().begin(), kinds().end(),
                     [&](const Kind& kind) { return in(kind.one) || in(kind.many); });
}

double neighbours_kept(const Doubles& distances, const Doubles& map_distances) {
  std::vector<std::size_t> all(distances.shape(0));
  std::iota(all.begin(), all.end(), std::size_t(0));
  const auto kept = [&](std::size_t i) {
    return nearest(distances, i, all) == nearest(map_distances, i, all);
  };
  return static_cast<double>(std::count_if(all.begin(), all.end(), kept)) /
         static_cast<double>(all.size());
}

ScatterOptions scatter_options(const QueryKeySpace& space, const std::string& query,
                               const std::string& key) {
  ScatterOptions options;
  options.labels = space.words;
  options.labels.insert(options.labels.end(), space.words.begin(), space.words.end());
  options.groups.assign(space.words.size(), 0);
  options.groups.resize(options.labels.size(), 1);
  options.groups[space.query(query)] = 2;
  options.groups[space.key(key)] = 3;
  options.group_names = {"query", "key", "query of " + query, "key of " + key};
  options.width = 74;
  options.height = 36;
  return options;
}

void claim_less(const std::string& what, double a, double b) {
  claim(what, a < b, decimal(a, 2) + " and " + decimal(b, 2));
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

void draw_losses(const std::string& lesson, const std::vector<double>& losses, double uniform,
                 double entropy) {
  Series curve{"training, mean of 20 steps", {}, means_of(losses, 20)};
  for (std::size_t i = 0; i < curve.y.size(); ++i)
    curve.x.push_back(20 * static_cast<double>(i) + 10);
  CurveOptions options{"Masked language model", "step", "loss (nats per chosen token)"};
  options.lines = {{"uniform distribution", uniform}, {"entropy, one [MASK]", entropy}};
  picture(lesson, "loss", {curve}, options);
}

}  // namespace heed
