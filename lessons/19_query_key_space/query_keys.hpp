// query_keys.hpp: the model of lesson 19, and the queries and keys of one head.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fill_in_the_blank.hpp"
#include "heed/study/heads.hpp"
#include "heed/study/tsne.hpp"

namespace heed {

// A trained model and its head that attends from [MASK] to the object.
struct TrainedModel {
  BlankModel model{1};
  HeadIndex head{};
  Array weight = zeros({2});    // of this head from [MASK] to the object, before and after training
  Array accuracy = zeros({2});  // on the pronoun, before (the mean of 8 models) and after training
};

inline void train_and_choose_head(TrainedModel& t, std::int64_t steps) {
  section("The model and its head");
  const std::vector<Sentence> held_out =
      held_out_once([](const Sentence& s) { return s.of_object; });
  const std::string count = std::to_string(held_out.size());
  say("Why does the head of lesson 18 attend to the object? Queries and keys decide.",
      "We train the model again and choose the head with 100 training sentences, as in",
      "lesson 18. We measure it on the " + count + " held-out combinations in which the pronoun",
      "refers to the object.", "");
  t.accuracy(0) = Real(untrained_accuracy(held_out));
  const Array before = attention_to_object(t.model, held_out);  // (2, 4)
  const std::vector<double> losses = train(t.model, steps);
  loss_curves("loss (nats per chosen token)", {series_of("training loss", losses)});
  t.accuracy(1) = Real(accuracy(t.model, held_out, Part::pronoun));
  t.head = largest_head(attention_to_object(t.model, training_sentences_about_objects(100)));
  const double after = attention_to_object(t.model, held_out)(t.head.layer, t.head.head);
  t.weight = Array{before(t.head.layer, t.head.head), Real(after)};
  say("accuracy on the pronoun, held-out sentences  " + trained(t.accuracy(1)));
  quote("layer " + std::to_string(t.head.layer) + ", head " + std::to_string(t.head.head) +
        ": mean attention weight from [MASK] to the object " + decimal(after, 2));
  claim_less("its mean attention weight from [MASK] to the object is above 0.5", 0.5, after);
  claim("the head is in layer 0", t.head.layer == 0, "layer " + std::to_string(t.head.layer));
}

// The query and the key of one head for each of n words. In the list of all 2n points the queries
// come first.
struct QueryKeySpace {
  Array queries, keys;  // (n, D)
  Names words;

  // The index of a word's query among the 2n points.
  std::size_t query(const std::string& word) const {
    return std::size_t(std::find(words.begin(), words.end(), word) - words.begin());
  }
  // The index of its key.
  std::size_t key(const std::string& word) const { return words.size() + query(word); }
  Array points() const { return xt::concatenate(xt::xtuple(queries, keys), 0); }  // (2n, D)
};

// The queries and keys of the first occurrence of each word in the sentences.
inline QueryKeySpace query_key_space(const BlankModel& model, HeadIndex at,
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

// The lengths (n) of the rows of x (n, D).
inline Array row_lengths(const Array& x) { return xt::sqrt(xt::sum(x * x, {1})); }

// " i 3.1, was 2.0, ...", in lines of five.
inline std::string lengths_of_keys(const Names& words, const Array& lengths) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i % 5 == 0 ? "\n  " : ", ") + words[i] + " " + decimal(lengths(i), 1);
  return text;
}

inline Array attention_weights(const Array& Q, const Array& K) {  // (T, D) each -> (T, T)
  const Tensor scores = matmul(Tensor(Q), transpose(Tensor(K), 0, 1)) / std::sqrt(Real(K.shape(1)));
  return softmax(scores, -1).value();
}

// The attention weight from [MASK] to 'door' in the door sentence, and the same with one length for
// all keys. cosines (9, 9) are those of the queries and keys.
inline void compare_lengths(const QueryKeySpace& space, const Array& cosines) {
  const Array lengths = row_lengths(space.keys);
  const auto mean_length = Real(xt::mean(lengths)());
  const Real query_length = row_lengths(space.queries)(6);
  const Array equal_scores = xt::row(cosines, 6) * query_length * mean_length / std::sqrt(Real(8));
  const Real weight = attention_weights(space.queries, space.keys)(6, 4);
  const Real equal_weight = softmax(Tensor(equal_scores), -1).value()(4);
  say("", "Scores also depend on the lengths. How much? We give all nine keys their mean",
      "length and keep the angles:", "");
  quote("lengths of the keys:" + lengths_of_keys(space.words, lengths) +
        "\n\nattention weight from [MASK] to 'door'  " + decimal(weight, 2) +
        "\nwith the mean length for all keys      " + decimal(equal_weight, 2));
  claim_less("without the differences of length the weight is smaller", equal_weight, weight);
  claim_less("but it is still above 0.3", 0.3, equal_weight);
}

// The words of the `count` keys nearest to the query of a word. distances are (2n, 2n).
inline Names nearest_keys(const QueryKeySpace& space, const Doubles& distances,
                          const std::string& word, std::size_t count) {
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

inline bool is_noun(const std::string& word) {
  const auto in = [&](const Names& names) {
    return std::find(names.begin(), names.end(), word) != names.end();
  };
  return std::any_of(kinds().begin(), kinds().end(),
                     [&](const Kind& kind) { return in(kind.singular) || in(kind.plural); });
}

inline bool is_ending(const std::string& word) {
  const Names& people = subject_endings();
  return std::find(people.begin(), people.end(), word) != people.end() ||
         std::any_of(kinds().begin(), kinds().end(),
                     [&](const Kind& kind) { return kind.ending == word; });
}

}  // namespace heed
