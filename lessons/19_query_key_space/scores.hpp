// scores.hpp: the scores and weights of the [MASK] query of lesson 19 by groups of keys.
#pragma once

#include "heed/draw/table.hpp"
#include "query_keys.hpp"

namespace heed {

// What the [MASK] query at position 6 of one head of layer 0 does. There a query or key depends on
// its token and its position only, so it is the same in all sentences.
struct MaskScores {
  Names groups = {"noun at position 4", "'old' at position 4", "object's ending at 7",
                  "people's ending at 7"};
  std::vector<std::vector<double>> scores{4};  // for each group of keys
  Array weights = zeros({2, 3});  // rows: the pronoun refers to the object, to the subject;
                                  // columns: mean weight on the object, the ending, the others
};

inline MaskScores mask_scores(const BlankModel& model, HeadIndex at) {
  const auto captured = [&](const std::string& text) {
    return capture_attention(model.gpt, encoded(model.vocabulary, text))[at.layer];
  };
  const std::string door = text_of(with_blank(door_sentence(), Part::pronoun));
  const LayerAttention of_door = captured(door);  // queries and keys: (1, H, T, D)
  MaskScores found;
  const auto add = [&](std::size_t group, const LayerAttention& layer, std::size_t key) {
    double score = 0;
    const std::size_t D = layer.keys.shape(3);
    for (std::size_t d = 0; d < D; ++d)
      score += of_door.queries(0, at.head, 6, d) * layer.keys(0, at.head, key, d);
    found.scores[group].push_back(score / std::sqrt(double(D)));
  };
  Array count = zeros({2, 1});
  for (const Sentence& s : held_out_once([](auto& s) { return s.words.size() == 9; })) {
    const LayerAttention layer = captured(text_of(with_blank(s, Part::pronoun)));
    add(0, layer, 4), add(s.of_object ? 2 : 3, layer, 7);
    const auto row = std::size_t(s.of_object ? 0 : 1);
    const Real on_object = layer.weights(0, at.head, 6, 4),
               on_ending = layer.weights(0, at.head, 6, 7);
    found.weights(row, 0) += on_object, found.weights(row, 1) += on_ending;
    found.weights(row, 2) += 1 - on_object - on_ending;
    count(row, 0) += 1;
  }
  add(1, captured("i was watching the old door when [MASK] opened ."), 4);
  found.weights /= count;
  return found;
}

inline double mean_of(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / double(x.size());
}

inline void compare_keys(const BlankModel& model, HeadIndex at) {
  section("Which keys have high scores?");
  say("Do the nouns have the highest scores with the query of [MASK], as 'door' has? In",
      "layer 0 a query or key depends on its token and its position only. So there is",
      "one query of [MASK] at position 6. We compute its scores with the keys of the",
      "nouns and endings of all held-out sentences of nine words. For comparison: the",
      "key of 'old' at the position of the nouns.", "");
  const MaskScores found = mask_scores(model, at);
  Array table_of_scores = zeros({4, 3});
  for (std::size_t g = 0; g < 4; ++g) {
    const auto [least, most] = std::minmax_element(found.scores[g].begin(), found.scores[g].end());
    xt::row(table_of_scores, int(g)) =
        Array{Real(mean_of(found.scores[g])), Real(*least), Real(*most)};
  }
  quote(table(table_of_scores, {"scores of the [MASK] query with a key",
                                found.groups,
                                {"mean", "smallest", "largest"},
                                2}) +
        "\n" +
        table(found.weights, {"mean attention weight of [MASK], nine words",
                              {"pronoun refers to the object", "pronoun refers to the subject"},
                              {"object", "ending", "other keys"},
                              2}));
  const auto score = [&](std::size_t group) { return double(table_of_scores(group, 0)); };
  claim_less("endings of people have a higher mean score than nouns", score(0), score(3));
  claim_less("nouns have a higher mean score than 'old' and than endings of objects",
             std::max(score(1), score(2)), score(0));
  claim_less("about the object: over half of the weight is on the object", 0.5,
             found.weights(0, 0));
  claim_less("about the subject: over half of the weight is on the ending", 0.5,
             found.weights(1, 1));
  say("", "So this query does not search for nouns only. People's endings have the highest",
      "mean score: if 'sneezed' follows, [MASK] attends to it, not to the noun. Endings",
      "of objects have low scores, and the noun gets the weight. At one position, 4 or",
      "7, different tokens have very different scores. (With other initial weights the",
      "head differs: lesson 18, question 1.)");
  claim_less("at one position the mean scores differ by more than 3", 3,
             std::min(score(0) - score(1), score(3) - score(2)));
}

}  // namespace heed
