// heads.hpp: attention from [MASK] to the object of a sentence, in every head of a BERT.
#pragma once

#include "heed/draw/table.hpp"
#include "heed/study/ablation.hpp"
#include "heed/study/heads.hpp"
#include "model.hpp"

namespace heed {

// The position of the word with this index, behind [CLS]: words can have several pieces.
inline std::size_t position_of(const WordPiece& pieces, const Names& words, std::size_t index) {
  const Names before(words.begin(), words.begin() + std::ptrdiff_t(index));
  return 1 + pieces.encode(text_of(before)).size();
}

// The mean attention weight from the pronoun, which is [MASK], to the first piece of the object,
// for each head: (L, H).
inline Array weights_to_object(const nn::Gpt& gpt, const WordPiece& pieces,
                               const std::vector<Sentence>& sentences) {
  Array sums = zeros({gpt.config.layers, gpt.config.heads});
  for (const Sentence& s : sentences) {
    const Names words = with_blank(s, Part::pronoun);
    const std::size_t from = position_of(pieces, words, s.position(Part::pronoun)),
                      to = position_of(pieces, words, s.position(Part::object));
    const auto layers = capture_attention(gpt, ids_of(pieces, {text_of(words)}));
    for (std::size_t l = 0; l < layers.size(); ++l)
      for (std::size_t h = 0; h < gpt.config.heads; ++h)
        sums(l, h) += layers[l].weights(0, h, from, to) / Real(sentences.size());
  }
  return sums;
}

// The pieces with the largest logits at the [MASK] of a text, the most probable first.
struct Prediction {
  std::string piece;
  double probability;
};
inline std::vector<Prediction> predictions(const nn::Gpt& gpt, const WordPiece& pieces,
                                           const std::string& text, std::size_t count) {
  const NoGrad no_grad;
  const Indices ids = ids_of(pieces, {text});
  const auto t = std::find(ids.begin(), ids.end(), std::int64_t(pieces.mask())) - ids.begin();
  const Array p = xt::view(softmax(gpt(ids), -1).value(), 0, t, xt::all());  // (V)
  std::vector<std::size_t> order(p.size());
  for (std::size_t v = 0; v < p.size(); ++v) order[v] = v;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p(a) > p(b); });
  std::vector<Prediction> best;
  for (std::size_t i = 0; i < std::min(count, order.size()); ++i)
    best.push_back({pieces.piece(order[i]), double(p(order[i]))});
  return best;
}

// The fraction of sentences whose most probable pronoun is right.
inline double pronoun_accuracy(const nn::Gpt& gpt, const WordPiece& pieces,
                               const std::vector<Sentence>& sentences) {
  double right = 0;
  for (const Sentence& s : sentences) {
    const std::string text = text_of(with_blank(s, Part::pronoun));
    right += fits(s, Part::pronoun, predictions(gpt, pieces, text, 1)[0].piece) ? 1 : 0;
  }
  return right / double(sentences.size());
}

// The accuracy without one head, for each head: (L, H).
inline Array accuracy_without(const nn::Gpt& gpt, const WordPiece& pieces,
                              const std::vector<Sentence>& sentences) {
  Array accuracies = zeros({gpt.config.layers, gpt.config.heads});
  for (std::size_t l = 0; l < gpt.config.layers; ++l)
    for (std::size_t h = 0; h < gpt.config.heads; ++h) {
      const AblatedHead ablated(gpt, l, h);
      accuracies(l, h) = Real(pronoun_accuracy(gpt, pieces, sentences));
    }
  return accuracies;
}

// Finds the head with the largest weight from [MASK] to the noun, and tests the claims about our
// own model. Of a downloaded model it only prints the numbers.
inline void find_the_head(const std::string& lesson, const nn::Gpt& gpt, const WordPiece& pieces,
                          bool ours) {
  section("Which head attends from [MASK] to the noun?");
  const auto first = training_sentences_about_objects(100);
  const auto held_out = held_out_once([](const Sentence& s) { return s.of_object; });
  say("As in lesson 18: the mean attention weight from [MASK], which replaces the",
      "pronoun, to the noun that it refers to. We choose the head with the largest mean",
      "over 100 training sentences, and measure it on " + std::to_string(held_out.size()) +
          " held-out sentences.",
      "");
  const Array weights = weights_to_object(gpt, pieces, first);  // (L, H)
  quote(table(weights, {"mean attention weight; rows: layers, columns: heads", {}, {}, 2}));
  const HeadIndex at = largest_head(weights);
  const double measured = weights_to_object(gpt, pieces, held_out)(at.layer, at.head);
  const Names words = with_blank(door_sentence(), Part::pronoun);
  const Indices ids = ids_of(pieces, {text_of(words)});             // (1, T)
  const Array all = capture_attention(gpt, ids)[at.layer].weights;  // (1, H, T, T)
  const Array A = xt::view(all, 0, at.head);                        // (T, T)
  Names tokens;
  for (const std::int64_t id : ids) tokens.push_back(pieces.piece(std::size_t(id)));
  const std::size_t mask = position_of(pieces, words, door_sentence().position(Part::pronoun)),
                    noun = position_of(pieces, words, door_sentence().position(Part::object));
  const std::string name =
      "layer " + std::to_string(at.layer) + ", head " + std::to_string(at.head);
  quote("chosen head: " + name + "\nmean weight, held-out sentences   " + decimal(measured, 2) +
        "\nweight on 'door'                  " + decimal(A(mask, noun), 2));
  picture_trained(lesson, "head", A,
                  {name + ": weights", tokens, tokens, "query position", "key position", 0, 1});
  std::vector<Array> panels;
  Names titles;
  for (std::size_t h = 0; h < gpt.config.heads; ++h) {
    panels.push_back(xt::view(all, 0, h));
    titles.push_back("head " + std::to_string(h));
  }
  picture(lesson, "heads", panels, titles,
          {"the heads of layer " + std::to_string(at.layer), tokens, tokens, "query position",
           "key position", 0, 1},
          4);
  say("");
  if (!ours) return;
  claim_less("its mean weight from [MASK] to the noun, held out: above 0.5", 0.5, measured);
  claim("in the door sentence, the largest weight of [MASK] is on 'door'",
        xt::amax(xt::row(A, std::ptrdiff_t(mask)))() == A(mask, noun), decimal(A(mask, noun), 2));
  say("", "Does the prediction need this head? The accuracy on the pronoun without each",
      "head (ablation, lesson 16):", "");
  const double all_heads = pronoun_accuracy(gpt, pieces, held_out);
  Array without = accuracy_without(gpt, pieces, held_out), others = without;  // (L, H)
  quote("with all heads: " + decimal(all_heads, 2) + "\n" +
        table(without, {"without one head; rows: layers, columns: heads", {}, {}, 2}));
  others(at.layer, at.head) = 1;
  claim_less("accuracy with all heads: above 0.9", 0.9, all_heads);
  claim_less("without the chosen head it is 0.2 lower than without any other head",
             without(at.layer, at.head), xt::amin(others)() - 0.2);
}

}  // namespace heed
