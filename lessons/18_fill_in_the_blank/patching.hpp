// patching.hpp: activation patching, controls and the excess loss for lesson 18.
#pragma once

#include <cmath>

#include "fill_in_the_blank.hpp"
#include "heed/draw/table.hpp"
#include "heed/study/ablation.hpp"
#include "heed/study/heads.hpp"

namespace heed {

// The same sentence with the other number of its object: "doors" for "door". It changes the object
// only, not the pronoun.
inline Sentence with_other_number(Sentence s) {
  const Kind& kind = kinds()[s.kind];
  const Names &from = s.plural ? kind.plural : kind.singular,
              &to = s.plural ? kind.singular : kind.plural;
  std::string& noun = s.words[s.position(Part::object)];
  noun = to[std::size_t(std::find(from.begin(), from.end(), noun) - from.begin())];
  return s;
}

// The input x (1, T, C) of block `layer` for a sentence whose pronoun is [MASK].
inline Tensor input_of_block(const BlankModel& model, const Sentence& s, std::size_t layer) {
  Tensor x = model.gpt.embed(encoded(model.vocabulary, {with_blank(s, Part::pronoun)}));
  for (std::size_t l = 0; l < layer; ++l) x = model.gpt.blocks[l](x);
  return x;
}

// What one head adds to the output of attention at position t: (C).
inline Array output_of_head(const BlankModel& model, HeadIndex at, const Tensor& x, std::size_t t) {
  const nn::Block& block = model.gpt.blocks[at.layer];
  const Tensor normed = block.norm1(x);
  const Array with = xt::view(block.attention(normed).value(), 0, t);
  const AblatedHead ablated(model.gpt, at.layer, at.head);
  const Array without = xt::view(block.attention(normed).value(), 0, t);
  return with - without;
}

// The predicted word at [MASK] of `s` if the head's output there is that for the sentence `other`.
inline std::string patched_prediction(const BlankModel& model, const Sentence& s,
                                      const Sentence& other, HeadIndex at) {
  const NoGrad no_grad;
  const std::size_t t = s.position(Part::pronoun);
  Tensor x = input_of_block(model, s, at.layer);
  const Array change = output_of_head(model, at, input_of_block(model, other, at.layer), t) -
                       output_of_head(model, at, x, t);
  for (std::size_t l = at.layer; l < model.gpt.blocks.size(); ++l) {
    const nn::Block& block = model.gpt.blocks[l];
    Array attention = block.attention(block.norm1(x)).value();
    if (l == at.layer) xt::view(attention, 0, t) += change;
    x = x + Tensor(attention);
    x = x + block.mlp(block.norm2(x));
  }
  const Array output = xt::view(model.gpt.norm(x).value(), 0, t);        // (C)
  const Array logits = xt::linalg::dot(model.gpt.head.value(), output);  // (V)
  return model.vocabulary.decode(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

// For each head (2, 4): the fraction of sentences in which the patch changes the prediction to the
// pronoun of the other number.
inline Array fractions_changed(const BlankModel& model, const std::vector<Sentence>& sentences) {
  Array changed = zeros({2, 4});
  for (const Sentence& s : sentences)
    for (std::size_t i = 0; i < 8; ++i) {
      const std::string word = patched_prediction(model, s, with_other_number(s), {i / 4, i % 4});
      changed(i / 4, i % 4) += word == (s.plural ? "it" : "they") ? 1 / Real(sentences.size()) : 0;
    }
  return changed;
}

inline void patch_heads(const BlankModel& model, const std::vector<Sentence>& about, HeadIndex at,
                        const Names& layers, const Names& heads) {
  section("Does the head carry the number of the noun?");
  say("Ablation asks what is necessary. What is sufficient? ACTIVATION PATCHING",
      "replaces one activation by that from another input. (It is a part of causal",
      "mediation analysis, Vig et al. 2020, and causal tracing, Meng et al. 2022.) We",
      "take one head's output at [MASK] from the same sentence with the other number of",
      "the noun: 'doors' for 'door'. All else stays, also the noun. In which fraction",
      "of the " + std::to_string(about.size()) +
          " sentences does the prediction change to the other pronoun, from 'it'",
      "to 'they' or from 'they' to 'it'?", "");
  const Array changed = fractions_changed(model, about);
  quote(table(changed, {"fraction of predictions that change", layers, heads, 2}));
  Array others = changed;
  others(at.layer, at.head) = 0;
  claim_less("patching the chosen head changes more than 0.9 of the predictions", 0.9,
             changed(at.layer, at.head));
  claim_less("patching any other head changes less than 0.1", xt::amax(others)(), 0.1);
  say("", "So the output of this head at [MASK] carries the number of the noun: to change",
      "it is sufficient to switch the pronoun, and to change another head's output is",
      "not. The head is necessary only in part: without it the accuracy falls, but not",
      "to that of the constant, so some of the information takes another way. (We",
      "tested the number only.) The picture shows none of this: '.' attends to 'door'",
      "as much, and the prediction does not need it.", "");
}

// The weights of a head in the door sentence and with the ending 'sneezed', side by side.
inline void picture_of_endings(const BlankModel& model, HeadIndex at, const std::string& name,
                               const std::string& lesson) {
  Names words = with_blank(door_sentence(), Part::pronoun);
  std::string text = text_of(words);
  text.replace(text.find("opened"), 6, "sneezed");
  const std::vector<Array> weights = {
      weights_of(model, at, text_of(with_blank(door_sentence(), Part::pronoun))),
      weights_of(model, at, text)};
  words[7] = "opened / sneezed";
  Names rows = words;
  rows[6] = "▶ [MASK]";
  HeatmapOptions options{name + ": where [MASK] attends depends on the ending",
                         rows,
                         words,
                         "query position",
                         "key position",
                         0,
                         1};
  picture(lesson, "endings", weights,
          {"... when [MASK] opened: 'it', the door", "... when [MASK] sneezed: 'i'"}, options, 2);
}

// The mean weight of a head on the object, from each query position of the nine-word sentences.
inline Array weight_on_object(const BlankModel& model, const std::vector<Sentence>& sentences,
                              HeadIndex at) {
  Array sums = zeros({1, 9});
  Real count = 0;
  for (const Sentence& s : sentences) {
    if (s.words.size() != 9) continue;
    const Indices tokens = encoded(model.vocabulary, {with_blank(s, Part::pronoun)});
    const LayerAttention layer = capture_attention(model.gpt, tokens)[at.layer];
    for (std::size_t t = 0; t < 9; ++t)
      sums(0, t) += layer.weights(0, at.head, t, s.position(Part::object));
    count += 1;
  }
  return sums / count;
}

// The model's cross-entropy minus -ln p of the grammar, in nats per word: the mean over the
// sentences, and its standard error. Each word except the full stop is in turn the only [MASK].
struct Excess {
  double mean = 0, standard_error = 0;
};

inline double log_probability(const BlankModel& model, const Sentence& s, std::size_t t) {
  for (const Part part : {Part::subject, Part::verb, Part::object, Part::pronoun, Part::ending}) {
    if (s.position(part) != t) continue;
    double sum = 0;
    for (const std::string& word : model.vocabulary.words()) sum += weight_of(s, part, word);
    return std::log(weight_of(s, part, s.words[t]) / sum);
  }
  return 0;  // the other words are certain
}

inline Excess excess_loss(const BlankModel& model, const std::vector<Sentence>& sentences) {
  Array each = zeros({sentences.size()});
  for (std::size_t n = 0; n < sentences.size(); ++n) {
    const Sentence& s = sentences[n];
    double sum = one_mask_loss(model, {s}) * double(s.words.size() - 1);
    for (std::size_t t = 0; t + 1 < s.words.size(); ++t) sum += log_probability(model, s, t);
    each(n) = Real(sum / double(s.words.size() - 1));
  }
  return {xt::mean<double>(each)(),
          double(xt::stddev(each)()) / std::sqrt(double(sentences.size()))};
}

}  // namespace heed
