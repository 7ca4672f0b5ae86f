// spaces.hpp: the models of lesson 19, and the queries and keys of their heads.
#pragma once

#include "in_threads.hpp"
#include "pictures.hpp"

namespace heed {

struct Trained {
  BlankModel model;
  HeadIndex head;  // the one with the largest weight from [MASK] to the object
};

// The models of lesson 18.
inline std::vector<Trained> eight_models() {
  return in_threads<Trained>(8, [](std::uint64_t seed) {
    const BlankModel model(seed);
    train(model, in_brief(1000, 500), Generator(18 + seed));
    const auto training = training_sentences_about_objects(100);
    return Trained{model, largest_head(attention_to_object(model, training))};
  });
}

// The queries and keys (T, 8) of a head for the words of a sentence.
inline QueryKeySpace space_of(const Trained& t, const Names& words) {
  const LayerAttention layer =  // queries and keys: (1, H, T, 8)
      capture_attention(t.model.gpt, encoded(t.model.vocabulary, {words}))[t.head.layer];
  return {xt::view(layer.queries, 0, t.head.head), xt::view(layer.keys, 0, t.head.head), words};
}

// The same for each word of the held-out sentences, at its first occurrence: (n, 8).
inline QueryKeySpace space_of_all_words(const Trained& t) {
  QueryKeySpace all;
  std::vector<Names> sentences = {blanked(door_sentence())};
  for (const std::size_t size : {9u, 10u})
    for (const Sentence& s : held_out_once([&](auto& s) { return s.words.size() == size; }))
      sentences.push_back(blanked(s));
  for (const Names& words : sentences) all.add_new_words(space_of(t, words));
  return all;
}

inline Array weights_of(const QueryKeySpace& s) {  // (n, n)
  return attention_weights(Tensor(s.queries), Tensor(s.keys)).value();
}

// The mean weight from [MASK] to a part of the held-out sentences about the object or the subject,
// if the queries and keys are changed.
using Change = QueryKeySpace (*)(QueryKeySpace);
inline double mean_weight(const Trained& t, Part part, bool of_object, Change change) {
  const auto sentences = held_out_once([&](const Sentence& s) { return s.of_object == of_object; });
  double sum = 0;
  for (const Sentence& s : sentences)
    sum += weights_of(change(space_of(t, blanked(s))))(s.position(Part::pronoun), s.position(part));
  return sum / double(sentences.size());
}
inline QueryKeySpace unchanged(QueryKeySpace s) { return s; }

}  // namespace heed
