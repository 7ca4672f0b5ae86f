// fill_in_the_blank_measures.cpp: accuracy, losses, attention weights and ablation of the masked
// language model.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fill_in_the_blank.hpp"
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

Array logits_at_mask(const BlankModel& model, const std::string& text) {
  const NoGrad no_grad;
  const Indices tokens = encoded(model.vocabulary, text);
  const auto mask = std::find(tokens.begin(), tokens.end(), model.vocabulary.find("[MASK]"));
  return xt::view(model.gpt(tokens).value(), 0, mask - tokens.begin(), xt::all());
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

void claim_less(const std::string& what, double a, double b, SourceLocation location) {
  claim(what, a < b, decimal(a, 2) + " and " + decimal(b, 2), location);
}

}  // namespace heed
