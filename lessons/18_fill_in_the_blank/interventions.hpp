// interventions.hpp: the predictions of lesson 18 after a change of one head's output.
#pragma once

#include "pictures.hpp"

namespace heed {

// All held-out combinations whose pronoun stands for the object.
inline const std::vector<Sentence>& sentences() {
  static const auto all = held_out_once([](const Sentence& s) { return s.of_object; });
  return all;
}

// "i was watching the door when [MASK] opened .", in words
inline Names blanked(const Sentence& s) { return with_blank(s, Part::pronoun); }

// What a head adds to the output of its attention, (T, C). In lesson.cpp.
Array output_of(const BlankModel& model, HeadIndex at, const Names& words);

// The sum of what the heads of layer 0 add is the output of its attention.
inline void check_outputs(const BlankModel& model) {
  const Names words = blanked(door_sentence());
  Array sum = zeros({words.size(), std::size_t(32)});
  for (std::size_t h = 0; h < 4; ++h) sum += output_of(model, {0, h}, words);
  const nn::Block& block = model.gpt.blocks[0];
  const Tensor x = model.gpt.embed(encoded(model.vocabulary, {words}));
  check("sum of the four outputs = attention of layer 0", sum,
        select(block.attention(block.norm1(x)), 0, 0));
}

// The predicted pronoun if `change` (T, C) is added to the output of attention in one layer.
inline std::string prediction(const BlankModel& model, const Sentence& s, std::size_t layer,
                              const Array& change) {
  Tensor x = model.gpt.embed(encoded(model.vocabulary, {blanked(s)}));  // (1, T, C)
  for (std::size_t l = 0; l < model.gpt.blocks.size(); ++l) {
    const nn::Block& block = model.gpt.blocks[l];
    Tensor attention = block.attention(block.norm1(x));
    if (l == layer) attention = attention + Tensor(change);
    x = x + attention;
    x = x + block.mlp(block.norm2(x));
  }
  return most_probable(model, model.gpt.logits(x), s.position(Part::pronoun));
}

// A change of one head's output in one sentence.
struct Head {
  const BlankModel& model;
  HeadIndex at;
  const Sentence& s;
  Array output;  // (T, C)
};

// The fraction of the sentences that have the wanted prediction after a change of one head.
using Wanted = std::string (*)(const Sentence&);
inline double fraction(const BlankModel& model, HeadIndex at, Array (*change)(const Head&),
                       Wanted wanted) {
  const NoGrad no_grad;
  double count = 0;
  for (const Sentence& s : sentences()) {
    const Head head = {model, at, s, output_of(model, at, blanked(s))};
    count += prediction(model, s, at.layer, change(head)) == wanted(s) ? 1 : 0;
  }
  return count / double(sentences().size());
}

}  // namespace heed
