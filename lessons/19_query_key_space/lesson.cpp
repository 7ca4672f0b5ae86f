// 19 query_key_space: queries and keys of a head as points, maps by t-SNE, and a test by scores.
//
// Worth a breakpoint: cosine_by_hand. Each stop is one query with one key.

#include <algorithm>
#include <cmath>

#include "guess.hpp"
#include "in_threads.hpp"
#include "pictures.hpp"

using namespace heed;

struct Trained {
  BlankModel model;
  HeadIndex head;  // the one with the largest weight from [MASK] to the object
};

// The models of lesson 18.
std::vector<Trained> eight_models() {
  return in_threads<Trained>(8, [](std::uint64_t seed) {
    const BlankModel model(seed);
    train(model, in_brief(1000, 500), Generator(18 + seed));
    const auto training = training_sentences_about_objects(100);
    return Trained{model, largest_head(attention_to_object(model, training))};
  });
}

// The queries and keys (T, 8) of a head for the words of a sentence.
QueryKeySpace space_of(const Trained& t, const Names& words) {
  const LayerAttention layer =  // queries and keys: (1, H, T, 8)
      capture_attention(t.model.gpt, encoded(t.model.vocabulary, {words}))[t.head.layer];
  return {xt::view(layer.queries, 0, t.head.head), xt::view(layer.keys, 0, t.head.head), words};
}

// The same for each word of the held-out sentences, at its first occurrence: (n, 8).
QueryKeySpace space_of_all_words(const Trained& t) {
  QueryKeySpace all;
  std::vector<Names> sentences = {blanked(door_sentence())};
  for (const std::size_t size : {9u, 10u})
    for (const Sentence& s : held_out_once([&](auto& s) { return s.words.size() == size; }))
      sentences.push_back(blanked(s));
  for (const Names& words : sentences) all.add_new_words(space_of(t, words));
  return all;
}

Real cosine_by_hand(const Array& Q, std::size_t i, const Array& K, std::size_t j) {
  Real dot = 0, q = 0, k = 0;
  for (std::size_t d = 0; d < Q.shape(1); ++d) {
    dot += Q(i, d) * K(j, d);
    q += Q(i, d) * Q(i, d), k += K(j, d) * K(j, d);
  }
  return dot / std::sqrt(q * k);
}

Array weights_of(const QueryKeySpace& s) {  // (n, n)
  return attention_weights(Tensor(s.queries), Tensor(s.keys)).value();
}

// All keys get their mean length; their directions stay.
QueryKeySpace with_equal_lengths(QueryKeySpace s) {
  const Array lengths = row_lengths(s.keys), factors = xt::mean(lengths) / lengths;
  s.keys *= xt::view(factors, xt::all(), xt::newaxis());
  return s;
}

// The mean weight from [MASK] to a part of the held-out sentences about the object or the subject,
// if the queries and keys are changed.
using Change = QueryKeySpace (*)(QueryKeySpace);
double mean_weight(const Trained& t, Part part, bool of_object, Change change) {
  const auto sentences = held_out_once([&](const Sentence& s) { return s.of_object == of_object; });
  double sum = 0;
  for (const Sentence& s : sentences)
    sum += weights_of(change(space_of(t, blanked(s))))(s.position(Part::pronoun), s.position(part));
  return sum / double(sentences.size());
}
QueryKeySpace unchanged(QueryKeySpace s) { return s; }

void queries_and_keys(const std::vector<Trained>& models) {
  section("Queries and keys in one space");
  const std::size_t mask = 6;  // its position
  const QueryKeySpace s = space_of(models[0], blanked(door_sentence()));
  Array rows = zeros({4, 9});
  for (std::size_t j = 0; j < 9; ++j) rows(0, j) = cosine_by_hand(s.queries, mask, s.keys, j);
  xt::row(rows, 1) = row_lengths(s.keys);
  xt::row(rows, 2) = xt::row(rows, 0) * xt::row(rows, 1) * row_lengths(s.queries)(mask);
  xt::row(rows, 2) /= std::sqrt(Real(8));
  xt::row(rows, 3) = softmax(Tensor(Array(xt::row(rows, 2))), -1).value();
  quote_table(rows, {"cosine", "length of the key", "score", "attention weight"}, s.words);
  check("softmax of these scores = attention weights of [MASK]", Array(xt::row(rows, 3)),
        Array(xt::row(weights_of(s), mask)));
  say();
  std::vector<double> weights, change;
  for (const Trained& t : models) {
    weights.push_back(mean_weight(t, Part::object, true, unchanged));
    change.push_back(mean_weight(t, Part::object, true, with_equal_lengths) - weights.back());
  }
  show_lengths(weights, change);
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

void two_changes(const QueryKeySpace& s) {
  section("Two changes that keep every weight", {{"n", s.words.size()}});
  check("attention weights with centred keys", weights_of(centred(s)), weights_of(s), 1e-3);
  check("with M", weights_of(with_M(s)), weights_of(s), 1e-3);
  quote("of " + std::to_string(s.words.size()) + " queries, these have another nearest key:\n" +
        "  with centred keys  " + std::to_string(other_neighbours(s, centred(s))) +
        "\n  with M             " + std::to_string(other_neighbours(s, with_M(s))));
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

Tsne map_of(const QueryKeySpace& s, std::uint64_t seed) {
  TsneOptions options;
  options.perplexity = 5, options.seed = seed;
  return tsne(s.points(), options);
}

Tsne a_map(const QueryKeySpace& s) {
  section("A map by t-SNE");
  const Doubles P = tsne_joint_probabilities(
      tsne_conditional_probabilities(tsne_distances(s.points(), Distance::cosine), 5));
  const Doubles y = Generator(1).randn({P.shape(0), 2});
  const Doubles gradient = gradient_by_hand(P, y);
  check("gradient by hand = by differences of KL", Array(gradient),
        Array(gradient_by_differences(P, y)), 1e-6);
  check("= tsne_gradient", Array(gradient), Array(tsne_gradient(P, y)), 1e-6);
  say({{"n", s.words.size()}});
  const Tsne map = map_of(s, 0);
  picture_of_map(s, map);
  say();
  return map;
}

void two_maps(const QueryKeySpace& s, const Tsne& map, const Guess& guess, const Array& A) {
  section("Two maps of the same points");
  const std::vector<Tsne> maps = {map, map_of(s, 1)};
  picture_of_two_maps(s, maps);
  show_maps(s, maps);
  guess.compare(decimal(100 * neighbours_kept(s, map.points), 0));
  say({{"mask", trained(A(6, 4))}, {"watching", trained(A(2, 4))}});
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

int main() {
  set_num_threads(1);  // each model has a thread of its own
  opening();
  const Guess guess("of 100 points, those that keep their nearest neighbour on the map");
  const std::vector<Trained> models = eight_models();
  queries_and_keys(models);
  const QueryKeySpace space = space_of_all_words(models[0]);
  two_changes(space);
  const QueryKeySpace shown = centred(space);
  const Tsne map = a_map(shown);
  two_maps(shown, map, guess, weights_of(space_of(models[0], blanked(door_sentence()))));
  test_by_scores(models, space.words);
  ending();
}
