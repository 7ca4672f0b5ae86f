// 17 induction_score: find the induction heads of a model.
//
// In "Harry Potter ... Harry" the next token is probably "Potter". An induction head attends from
// the second "Harry" to the token after the first one. Olsson et al. 2022, "In-context Learning and
// Induction Heads", find such heads by their prefix-matching score on repeated random sequences: in
// a random text only the repetition can be predicted. Here the score is defined as follows.
//
// A row t of the attention weights counts if the token at t occurs at an earlier position. Its
// value is the weight of query t on all positions that follow earlier occurrences: the sum over
// each p < t with tokens[p] == tokens[t] of the weight on key p + 1. (p + 1 may be t itself.) The
// score of a head is the mean value of the rows that count, or 0 if no row counts.
//
// weights (H, T, T) are the attention weights of H causal heads, tokens are T numbers. Return the H
// scores, (H). When the scores are right, the judge trains a small model and searches it for
// induction heads, which takes a few seconds.
//
// As handed out, the score is that of a previous token head.

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
Array induction_scores(const Array& weights, const std::vector<int>& tokens) {
  Array sums = zeros({weights.shape(0)});
  Real rows = 0;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    bool counts = false;
    for (std::size_t p = 0; p < t; ++p) {
      if (tokens[p] != tokens[t]) continue;
      counts = true;
      for (std::size_t h = 0; h < sums.size(); ++h) sums(h) += weights(h, t, p + 1);
    }
    rows += counts ? 1 : 0;
  }
  return rows > 0 ? Array(sums / rows) : sums;
}
// Your part ends here.
