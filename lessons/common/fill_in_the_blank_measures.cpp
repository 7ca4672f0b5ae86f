// fill_in_the_blank_measures.cpp: accuracy, losses, attention weights and ablation of the masked
// language model.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fill_in_the_blank.hpp"
#include "heed/study/ablation.hpp"
#include "heed/study/heads.hpp"

namespace heed {

Array predicted_probabilities(const BlankModel& model, const std::vector<Sentence>& sentences,
                              Part blank) {
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

double accuracy(const BlankModel& model, const std::vector<Sentence>& sentences, Part blank) {
  const Array probabilities = predicted_probabilities(model, sentences, blank);
  double correct = 0;
  for (std::size_t n = 0; n < sentences.size(); ++n) {
    const Real* row = probabilities.data() + n * probabilities.shape(1);
    const std::size_t best =
        static_cast<std::size_t>(std::max_element(row, row + probabilities.shape(1)) - row);
    correct += fits(sentences[n], blank, model.vocabulary.words()[best]) ? 1 : 0;
  }
  return correct / static_cast<double>(sentences.size());
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

std::string most_probable_word(const BlankModel& model, const std::string& text) {
  const Array logits = logits_at_mask(model, text);
  const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
  return model.vocabulary.decode(best);
}

Array probabilities_of(const BlankModel& model, const Names& texts, const Names& words) {
  Array sums = zeros({texts.size(), words.size()});
  for (std::size_t n = 0; n < texts.size(); ++n) {
    const Array p = softmax(Tensor(logits_at_mask(model, texts[n])), -1).value();  // (V)
    for (std::size_t w = 0; w < words.size(); ++w)
      for (const std::int64_t id : model.vocabulary.encode(words[w]))
        sums(n, w) += p(static_cast<std::size_t>(id));
  }
  return sums;
}

Baselines baselines(const Vocabulary& vocabulary, const std::vector<Sentence>& sentences,
                    Part blank) {
  Baselines result;
  for (const std::string& word : vocabulary.words()) {
    const auto correct = [&](const Sentence& s) { return fits(s, blank, word); };
    const auto count = std::count_if(sentences.begin(), sentences.end(), correct);
    const double fraction = static_cast<double>(count) / static_cast<double>(sentences.size());
    result.uniform += fraction / static_cast<double>(vocabulary.size());
    result.constant = std::max(result.constant, fraction);
  }
  return result;
}

Array accuracies(const BlankModel& model, const std::vector<Sentence>& sentences) {
  Array result = zeros({3, 3});
  std::size_t p = 0;
  for (const Part part : {Part::object, Part::pronoun, Part::ending}) {
    const Baselines baseline = baselines(model.vocabulary, sentences, part);
    result(p, 0) = static_cast<Real>(accuracy(model, sentences, part));
    result(p, 1) = static_cast<Real>(baseline.constant);
    result(p++, 2) = static_cast<Real>(baseline.uniform);
  }
  return result;
}

// The entropy, in nats, of the distribution that is proportional to these weights.
static double entropy_of_weights(const std::vector<double>& weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  double nats = 0;
  for (const double weight : weights)
    if (weight > 0) nats -= weight / total * std::log(weight / total);
  return nats;
}

double conditional_entropy(const Vocabulary& vocabulary, const std::vector<Sentence>& sentences) {
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

double one_mask_loss(const BlankModel& model, const std::vector<Sentence>& sentences) {
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

WithoutAt predictions_without_at(Where where, const BlankModel& model,
                                 const std::vector<Sentence>& sentences, HeadIndex head) {
  const NoGrad no_grad;
  WithoutAt result;
  const double one = 1 / static_cast<double>(sentences.size());
  for (const Sentence& s : sentences) {
    const std::size_t t = s.position(Part::pronoun),
                      removed = where == Where::mask ? t : s.words.size() - 1;
    Tensor x = model.gpt.embed(encoded(model.vocabulary, {with_blank(s, Part::pronoun)}));
    for (std::size_t l = 0; l < 2; ++l) {  // the blocks; x is (1, T, C)
      const nn::Block& block = model.gpt.blocks[l];
      Array attention = block.attention(block.norm1(x)).value();
      if (l == head.layer) {
        const AblatedHead ablated(model.gpt, l, head.head);
        const Array without = block.attention(block.norm1(x)).value();
        xt::view(attention, 0, removed) = xt::view(without, 0, removed);
      }
      x = x + Tensor(attention);
      x = x + block.mlp(block.norm2(x));
    }
    const Array output = xt::view(model.gpt.norm(x).value(), 0, t);        // (C)
    const Array logits = xt::linalg::dot(model.gpt.head.value(), output);  // (V, C) (C) is (V)
    const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
    const std::string word = model.vocabulary.decode(best);
    result.accuracy += fits(s, Part::pronoun, word) ? one : 0;
    result.it += word == "it" ? one : 0;
    result.they += word == "they" ? one : 0;
  }
  return result;
}

void claim_less(const std::string& what, double a, double b, SourceLocation location) {
  claim(what, a < b, decimal(a, 2) + " and " + decimal(b, 2), location);
}

}  // namespace heed
