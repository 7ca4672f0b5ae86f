// 19 query_key_space: queries and keys of a head as points, maps by t-SNE, and a test by scores.
//
// Worth a breakpoint: cosine_by_hand. Each stop is one query with one key.

#include <algorithm>
#include <cmath>

#include "guess.hpp"
#include "spaces.hpp"

using namespace heed;

Real cosine_by_hand(const Array& Q, std::size_t i, const Array& K, std::size_t j) {
  Real dot = 0, q = 0, k = 0;
  for (std::size_t d = 0; d < Q.shape(1); ++d) {
    dot += Q(i, d) * K(j, d);
    q += Q(i, d) * Q(i, d), k += K(j, d) * K(j, d);
  }
  return dot / std::sqrt(q * k);
}

void queries_and_keys(const Trained& first) {
  section("Queries and keys in one space");
  const std::size_t mask = 6;  // its position
  const QueryKeySpace s = space_of(first, blanked(door_sentence()));
  Array rows = zeros({4, 9});
  for (std::size_t j = 0; j < 9; ++j) rows(0, j) = cosine_by_hand(s.queries, mask, s.keys, j);
  xt::row(rows, 1) = row_lengths(s.keys);
  xt::row(rows, 2) = xt::row(rows, 0) * xt::row(rows, 1) * row_lengths(s.queries)(mask);
  xt::row(rows, 2) /= std::sqrt(Real(8));
  xt::row(rows, 3) = softmax(Tensor(Array(xt::row(rows, 2))), -1).value();
  quote_table(rows, {"cosine", "key length", "score", "weight"}, s.words);
  check("softmax of these scores = attention weights of [MASK]", Array(xt::row(rows, 3)),
        Array(xt::row(weights_of(s), mask)));
  say();
}

// Adds one vector to all keys, so that the mean of the keys becomes the mean of the queries.
QueryKeySpace centred(QueryKeySpace s) {
  const Array c = xt::mean(s.queries, {0}) - xt::mean(s.keys, {0});  // (8)
  s.keys += c;
  return s;
}

// W_Q M and W_K M^-T in place of W_Q and W_K.
QueryKeySpace with_M(QueryKeySpace s) {
  const Array M = {2, 2, 2, 2, 1, 1, 1, 1};  // the diagonal
  s.queries *= M, s.keys /= M;
  return s;
}

// The number of queries whose nearest key, by cosine, is another one in b.
std::size_t other_neighbours(const QueryKeySpace& a, const QueryKeySpace& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.words.size(); ++i)
    count += nearest_key(a, i) != nearest_key(b, i) ? 1 : 0;
  return count;
}

// All keys get their mean length; their directions stay.
QueryKeySpace with_equal_lengths(QueryKeySpace s) {
  const Array lengths = row_lengths(s.keys), factors = xt::mean(lengths) / lengths;
  s.keys *= xt::view(factors, xt::all(), xt::newaxis());
  return s;
}
QueryKeySpace centred_equal(QueryKeySpace s) { return with_equal_lengths(centred(s)); }
QueryKeySpace with_M_equal(QueryKeySpace s) { return with_equal_lengths(with_M(s)); }

void two_changes(const std::vector<Trained>& models, const QueryKeySpace& s) {
  section("Two changes that keep every weight", {{"n", s.words.size()}});
  check("attention weights with centred keys", weights_of(centred(s)), weights_of(s), 1e-3);
  check("with M", weights_of(with_M(s)), weights_of(s), 1e-3);
  quote("of " + std::to_string(s.words.size()) + " queries, these have another nearest key:\n" +
        "  with centred keys  " + std::to_string(other_neighbours(s, centred(s))) +
        "\n  with M             " + std::to_string(other_neighbours(s, with_M(s))));
  say();
  std::vector<double> weights;
  for (const Trained& t : models) weights.push_back(mean_weight(t, Part::object, true, unchanged));
  std::vector<std::vector<double>> changes;
  for (const Change change : {with_equal_lengths, centred_equal, with_M_equal}) {
    changes.emplace_back();
    for (std::size_t m = 0; m < models.size(); ++m)
      changes.back().push_back(mean_weight(models[m], Part::object, true, change) - weights[m]);
  }
  show_lengths(weights, changes);
  say({{"trained", trained(estimate(changes[0]).mean)},
       {"centred", trained(estimate(changes[1]).mean)}});
}

Tsne map_of(const QueryKeySpace& s, std::uint64_t seed) {
  TsneOptions options;
  options.perplexity = 5, options.seed = seed;
  return tsne(s.points(), options);
}

Tsne a_map(const QueryKeySpace& s) {
  const std::size_t n = s.words.size();
  section("A map by t-SNE", {{"n", n}, {"all", grouped(double(n * n))}});
  const Tsne map = map_of(s, 0);
  picture_of_map(s, map);
  say({{"nearest", s.words[nearest_key(s, index_in(s.words, "[MASK]")) - n]}});
  return map;
}

// The fraction of all triples of a query i and two keys j and k in which the same key is nearer by
// both distances, (2n, 2n).
double triples_in_order(const Doubles& a, const Doubles& b) {
  const std::size_t n = a.shape(0) / 2;
  double same = 0, all = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = n; j < 2 * n; ++j)
      for (std::size_t k = n; k < j; ++k, ++all)
        same += (a(i, j) < a(i, k)) == (b(i, j) < b(i, k)) ? 1 : 0;
  return same / all;
}

void what_it_keeps(const QueryKeySpace& s, const Tsne& map, const Guess& guess) {
  section("What the map keeps");
  const Array other = map_of(s, 1).points, random = Generator(1).randn({map.points.shape(0), 2});
  const Doubles in_space = tsne_distances(s.points(), Distance::cosine);
  const auto on = [](const Array& plane) { return tsne_distances(plane, Distance::euclidean); };
  std::vector<MapRow> rows;
  for (const Array& plane : {map.points, other, principal_components(s.unit_points()), random})
    rows.push_back({neighbours_kept(s, plane), triples_in_order(in_space, on(plane))});
  show_maps(rows);
  guess.compare(decimal(100 * rows[0].neighbours, 0));
  say({{"agree", trained(triples_in_order(on(map.points), on(other)))}});
}

// The scores of the query of [MASK] at position 6 with the key of each word at each of the nine
// positions. In layer 0 they depend on nothing else.
Array scores_at_all_positions(const Trained& t, const Names& words) {
  const Array q = xt::row(space_of(t, blanked(door_sentence())).queries, 6);
  Array scores = zeros({words.size(), 9});
  for (std::size_t w = 0; w < words.size(); ++w) {
    const Array keys = space_of(t, Names(9, words[w])).keys;  // (9, 8)
    xt::row(scores, std::ptrdiff_t(w)) = xt::linalg::dot(keys, q) / std::sqrt(Real(8));
  }
  return scores;
}

void test_by_scores(const std::vector<Trained>& models, const Names& words) {
  section("The test by scores");
  std::vector<Array> scores, weights;
  for (const Trained& t : models) {
    scores.push_back(scores_at_all_positions(t, words));
    weights.push_back({Real(mean_weight(t, Part::object, false, unchanged)),
                       Real(mean_weight(t, Part::ending, false, unchanged))});
  }
  show_scores_by_position(words, scores[0]);
  say();
  show_scores_of_models(words, scores, weights, models);
  say();
}

// dKL / dy_i = 4 sum_j (p_ij - q_ij) (y_i - y_j) / (1 + |y_i - y_j|^2)
Doubles gradient_by_hand(const Doubles& P, const Doubles& y) {  // (m, m), (m, 2)
  const Doubles Q = tsne_embedding_probabilities(y);
  Doubles gradient = 0 * y;
  for (std::size_t i = 0; i < y.shape(0); ++i)
    for (std::size_t j = 0; j < y.shape(0); ++j) {
      const double dx = y(i, 0) - y(j, 0), dy = y(i, 1) - y(j, 1);
      const double factor = 4 * (P(i, j) - Q(i, j)) / (1 + dx * dx + dy * dy);
      gradient(i, 0) += factor * dx, gradient(i, 1) += factor * dy;
    }
  return gradient;
}

// (KL(y + h) - KL(y - h)) / 2h for each number of y.
Doubles gradient_by_differences(const Doubles& P, Doubles y) {
  Doubles gradient = y;
  for (std::size_t n = 0; n < y.size(); ++n) {
    const double middle = y.flat(n), h = 1e-5;
    y.flat(n) = middle + h;
    const double above = kl_divergence(P, tsne_embedding_probabilities(y));
    y.flat(n) = middle - h;
    gradient.flat(n) = (above - kl_divergence(P, tsne_embedding_probabilities(y))) / (2 * h);
    y.flat(n) = middle;
  }
  return gradient;
}

void gradient(const QueryKeySpace& s) {
  const Doubles P = tsne_joint_probabilities(
      tsne_conditional_probabilities(tsne_distances(s.points(), Distance::cosine), 5));
  const Doubles y = Generator(1).randn({P.shape(0), 2});
  const Doubles gradient = gradient_by_hand(P, y);
  check("gradient by hand = by differences of KL", Array(gradient),
        Array(gradient_by_differences(P, y)), 1e-6);
  check("= tsne_gradient", Array(gradient), Array(tsne_gradient(P, y)), 1e-6);
}

int main() {
  set_num_threads(1);  // each model has a thread of its own
  opening();
  const Guess guess("of 100 points, those that keep their nearest neighbour on the map");
  const std::vector<Trained> models = eight_models();
  queries_and_keys(models[0]);
  const QueryKeySpace space = space_of_all_words(models[0]);
  two_changes(models, space);
  const QueryKeySpace shown = centred(space);
  const Tsne map = a_map(shown);
  what_it_keeps(shown, map, guess);
  test_by_scores(models, space.words);
  if (appendix("How t-SNE works")) gradient(shown);
  ending();
}
