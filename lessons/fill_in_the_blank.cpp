// fill_in_the_blank.cpp: blanks in sentences, and a model that fills them.

#include "fill_in_the_blank.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "heed/array/parallel.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/softmax.hpp"
#include "heed/optim/adamw.hpp"
#include "heed/optim/schedule.hpp"

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

Masked masked(const Indices& tokens, const Vocabulary& vocabulary, Generator& generator) {
  const std::int64_t mask = vocabulary.find("[MASK]"), stop = vocabulary.find(".");
  const auto V = static_cast<std::int64_t>(vocabulary.size());
  const Shape shape = {tokens.shape(0), tokens.shape(1)};
  const Array chosen = generator.rand(shape), fate = generator.rand(shape);
  const Indices others = generator.randint(0, V, shape);
  Masked m{tokens, tokens};
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool choose = tokens.data()[i] != stop && chosen.data()[i] < Real(0.15);
    if (!choose)
      m.targets.data()[i] = -100;
    else if (fate.data()[i] < Real(0.8))
      m.seen.data()[i] = mask;
    else if (fate.data()[i] < Real(0.9))
      m.seen.data()[i] = others.data()[i];
  }
  return m;
}

std::string described(const Masked& m, std::size_t sentence, const Vocabulary& vocabulary) {
  Names seen, asked;
  for (std::size_t t = 0; t < m.seen.shape(1); ++t) {
    seen.push_back(vocabulary.decode(m.seen(sentence, t)));
    if (m.targets(sentence, t) != -100) asked.push_back(vocabulary.decode(m.targets(sentence, t)));
  }
  return pad_right(text_of(seen), 50) + "asks for " + (asked.empty() ? "nothing" : text_of(asked));
}

static nn::GptConfig config_of(const Vocabulary& vocabulary) {
  nn::GptConfig config;
  config.vocab_size = vocabulary.size();
  config.block_size = 10;  // the longest sentence: nine words and an "old" or "again"
  config.layers = 2;
  config.heads = 4;
  config.embed_dim = 32;
  config.tied = false;
  config.causal = false;
  return config;
}

BlankModel::BlankModel(std::uint64_t seed)
    : generator(seed), gpt(Scope(parameters, generator), config_of(vocabulary)) {
  for (Tensor weight : parameters) {
    if (weight.dim() < 2) continue;
    Array larger = weight.value() * Real(8);  // GPT-2's 0.02 suit a width of hundreds
    weight.mutable_value() = larger;
  }
}

Masked next_batch(const BlankModel& model, Generator& generator) {
  const auto extra = static_cast<Extra>(generator.randint(0, 3, {1})(0));
  std::vector<Names> texts;
  for (const Sentence& s : draw_sentences(generator, 64, From::training, extra))
    texts.push_back(s.words);
  return masked(encoded(model.vocabulary, texts), model.vocabulary, generator);
}

std::vector<double> train(BlankModel& model, std::int64_t steps) {
  set_num_threads(1);  // so little work is done before a second thread has woken up
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

Array answers(const BlankModel& model, const std::vector<Sentence>& sentences, Part blank) {
  const NoGrad no_grad;
  Array all = zeros({sentences.size(), model.vocabulary.size()});
  for (std::size_t n = 0; n < sentences.size(); ++n) {
    const Indices tokens = encoded(model.vocabulary, {with_blank(sentences[n], blank)});
    const Array shares = softmax(model.gpt(tokens), -1).value();  // (1, T, V)
    xt::row(all, static_cast<std::ptrdiff_t>(n)) =
        xt::view(shares, 0, sentences[n].place(blank), xt::all());
  }
  return all;
}

double accuracy(const BlankModel& model, const std::vector<Sentence>& sentences, Part blank) {
  const Array shares = answers(model, sentences, blank);
  double right = 0;
  for (std::size_t n = 0; n < sentences.size(); ++n) {
    const Real* row = shares.data() + n * shares.shape(1);
    const std::size_t best =
        static_cast<std::size_t>(std::max_element(row, row + shares.shape(1)) - row);
    right += fits(sentences[n], blank, model.vocabulary.words()[best]) ? 1 : 0;
  }
  return right / static_cast<double>(sentences.size());
}

std::string filled(const BlankModel& model, const std::string& text) {
  const NoGrad no_grad;
  const Indices tokens = encoded(model.vocabulary, text);
  const auto place = std::find(tokens.begin(), tokens.end(), model.vocabulary.find("[MASK]"));
  const Array scores = xt::view(model.gpt(tokens).value(), 0, place - tokens.begin(), xt::all());
  const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
  return model.vocabulary.decode(best);
}

Chance chance(const Vocabulary& vocabulary, const std::vector<Sentence>& sentences, Part blank) {
  Chance c{0, 0};
  for (const std::string& word : vocabulary.words()) {
    const auto right = [&](const Sentence& s) { return fits(s, blank, word); };
    const auto count = std::count_if(sentences.begin(), sentences.end(), right);
    const double share = static_cast<double>(count) / static_cast<double>(sentences.size());
    c.evenly += share / static_cast<double>(vocabulary.size());
    c.one_word = std::max(c.one_word, share);
  }
  return c;
}

Array fill_blanks(const BlankModel& model, const std::vector<Sentence>& sentences) {
  Array shares = zeros({3, 3});
  std::size_t p = 0;
  for (const Part part : {Part::object, Part::pronoun, Part::ending}) {
    const Chance guess = chance(model.vocabulary, sentences, part);
    shares(p, 0) = static_cast<Real>(accuracy(model, sentences, part));
    shares(p, 1) = static_cast<Real>(guess.one_word);
    shares(p++, 2) = static_cast<Real>(guess.evenly);
  }
  return shares;
}

// The entropy of shares in proportion to these weights, in nats.
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

std::vector<double> means_of(const std::vector<double>& losses, std::size_t many) {
  std::vector<double> means;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (i % many == 0) means.push_back(0);
    means.back() +=
        losses[i] / static_cast<double>(std::min(many, losses.size() - i / many * many));
  }
  return means;
}

}  // namespace heed
