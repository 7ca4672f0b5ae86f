// 18_scores.hpp: the scores and weights of the [MASK] query of lesson 18 by groups of keys, and the
// projection on two principal components.
#pragma once

#include "18_query_keys.hpp"
#include "heed/report/table.hpp"

namespace heed {

// What the [MASK] query of one head does in the held-out sentences.
struct MaskScores {
  Names groups = {"noun at position 4", "noun at position 5", "'old' at position 4",
                  "ending of an object", "ending of people"};
  std::vector<std::vector<double>> scores{5};  // for each group of keys
  Array weights = zeros({2, 3});  // rows: the pronoun refers to the object, to the subject;
                                  // columns: mean weight on the object, the ending, the others
};

inline MaskScores mask_scores(const BlankModel& model, HeadIndex at,
                              const std::vector<Sentence>& sentences) {
  MaskScores found;
  Array count = zeros({2, 1});
  for (const Sentence& s : sentences) {
    const LayerAttention layer =  // (1, H, T, D)
        capture_attention(model.gpt,
                          encoded(model.vocabulary, {with_blank(s, Part::pronoun)}))[at.layer];
    const std::size_t t = s.position(Part::pronoun), object = s.position(Part::object),
                      ending = s.position(Part::ending), D = layer.keys.shape(3);
    const auto add = [&](std::size_t group, std::size_t key) {
      double score = 0;
      for (std::size_t d = 0; d < D; ++d)
        score += layer.queries(0, at.head, t, d) * layer.keys(0, at.head, key, d);
      found.scores[group].push_back(score / std::sqrt(double(D)));
    };
    add(object == 4 ? 0 : 1, object);
    if (object == 5) add(2, 4);  // "old" stands before the object
    add(s.of_object ? 3 : 4, ending);
    const auto row = std::size_t(s.of_object ? 0 : 1);
    const Real on_object = layer.weights(0, at.head, t, object),
               on_ending = layer.weights(0, at.head, t, ending);
    found.weights(row, 0) += on_object, found.weights(row, 1) += on_ending;
    found.weights(row, 2) += 1 - on_object - on_ending;
    count(row, 0) += 1;
  }
  found.weights /= count;
  return found;
}

inline double mean_of(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / double(x.size());
}

inline void compare_keys(const BlankModel& model, HeadIndex at) {
  section("Which keys have high scores?");
  say("Do the nouns have the highest scores with the query of [MASK], as 'door' has? We",
      "compute the scores of this query in all held-out sentences: also those in which",
      "the pronoun refers to the subject, and those with 'old' or 'again'. In layer 0 a",
      "key depends on its token and its position only. ('old' moves the noun from",
      "position 4 to 5.)", "");
  const MaskScores found =
      mask_scores(model, at, held_out_once([](const Sentence&) { return true; }));
  Array table_of_scores = zeros({5, 3});
  for (std::size_t g = 0; g < 5; ++g) {
    const auto [least, most] = std::minmax_element(found.scores[g].begin(), found.scores[g].end());
    xt::row(table_of_scores, int(g)) =
        Array{Real(mean_of(found.scores[g])), Real(*least), Real(*most)};
  }
  quote(table(table_of_scores, {"scores of the [MASK] query with a key",
                                found.groups,
                                {"mean", "smallest", "largest"},
                                2}) +
        "\n" +
        table(found.weights, {"mean attention weight of [MASK], held-out sentences",
                              {"pronoun refers to the object", "pronoun refers to the subject"},
                              {"object", "ending", "other keys"},
                              2}));
  const auto score = [&](std::size_t group) { return double(table_of_scores(group, 0)); };
  claim_less("endings of people have a higher mean score than nouns", std::max(score(0), score(1)),
             score(4));
  claim_less("nouns have a higher mean score than 'old' and than endings of objects",
             std::max(score(2), score(3)), std::min(score(0), score(1)));
  claim_less("about the object: over half of the weight is on the object", 0.5,
             found.weights(0, 0));
  claim_less("about the subject: over half of the weight is on the ending", 0.5,
             found.weights(1, 1));
  say("", "So this query does not search for nouns only. People's endings have the highest",
      "mean score: if 'sneezed' follows, [MASK] attends to it, not to the noun. Endings",
      "of objects have low scores, and the noun gets the weight. Keys at one position,",
      "4 or 7, have very different scores: the token matters more than the position.",
      "(With other initial weights the head differs: lesson 17, question 1.)");
  claim_less("at one position the mean scores differ by more than 3", 3,
             std::min(score(0) - score(2), score(4) - score(3)));
}

// The rows of x (n, D), divided by their lengths.
inline Array unit_rows(const Array& x) {
  const Array lengths = row_lengths(x);
  return x / xt::view(lengths, xt::all(), xt::newaxis());
}

// The points (n, D), projected on the two directions of largest variance: (n, 2). Principal
// component analysis (PCA), by repeated multiplication with the covariance matrix.
inline Array principal_components(const Array& points) {
  Array centre = xt::mean(points, {0}), x = points - centre;
  Array covariance = xt::linalg::dot(xt::transpose(x), x), projected = zeros({x.shape(0), 2});
  for (int c = 0; c < 2; ++c) {
    Array v = ones({x.shape(1)});
    for (int i = 0; i < 1000; ++i) {
      v = Array(xt::linalg::dot(covariance, v));
      v /= std::sqrt(Real(xt::linalg::dot(v, v)()));
    }
    const Real variance = xt::linalg::dot(v, Array(xt::linalg::dot(covariance, v)))();
    xt::col(projected, c) = xt::linalg::dot(x, v);
    covariance -= variance * xt::linalg::outer(v, v);
  }
  return projected;
}

}  // namespace heed
