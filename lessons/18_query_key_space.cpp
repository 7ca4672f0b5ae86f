// 18 query_key_space: the queries and keys of one head in two dimensions, by t-SNE.
//
// Before this lesson: 17_fill_in_the_blank, a head whose [MASK] query attends to the object.
// After it: a lesson of your own.
// Worth a breakpoint: cosine_by_hand. Each stop is one query with one key.

#include <algorithm>
#include <cmath>

#include "18_scores.hpp"

using namespace heed;

const std::string lesson = "18_query_key_space";
const Distance metric = Distance::cosine;  // of the map

Real cosine_by_hand(const Array& Q, std::size_t i, const Array& K, std::size_t j) {
  Real dot = 0, q = 0, k = 0;
  for (std::size_t d = 0; d < Q.shape(1); ++d) {
    dot += Q(i, d) * K(j, d);
    q += Q(i, d) * Q(i, d), k += K(j, d) * K(j, d);
  }
  return dot / std::sqrt(q * k);
}

// Adds one vector to all keys, so that the mean of the keys becomes the mean of the queries.
QueryKeySpace centred(QueryKeySpace space) {
  Array query_mean = xt::mean(space.queries, {0}), key_mean = xt::mean(space.keys, {0});  // (D)
  for (std::size_t i = 0; i < space.words.size(); ++i)
    xt::row(space.keys, std::ptrdiff_t(i)) += query_mean - key_mean;
  return space;
}

Tsne map_of(const QueryKeySpace& space, double perplexity, std::uint64_t seed) {
  TsneOptions options;
  options.perplexity = perplexity, options.seed = seed, options.distance = metric;
  return tsne(space.points(), options);
}

void compare_by_cosine(const QueryKeySpace& space) {
  section("Queries and keys in one space");
  say("A score is the dot product of a query and a key, divided by sqrt(8). Both have 8",
      "numbers. They are points of one space, the QUERY-KEY SPACE of the head. A dot",
      "product is the cosine of the angle times both lengths. The cosines in the",
      "sentence 'i was watching the door when [MASK] opened .':");
  const Array &Q = space.queries, &K = space.keys;                             // (9, 8)
  const Doubles distances = tsne_distances(space.points(), Distance::cosine);  // (18, 18): 1 - cos
  Array cosines = 1 - xt::view(distances, xt::range(0, 9), xt::range(9, 18)), by_hand = cosines;
  for (std::size_t i = 0; i < 9; ++i)
    for (std::size_t j = 0; j < 9; ++j) by_hand(i, j) = cosine_by_hand(Q, i, K, j);
  picture_trained(lesson, "cosines", cosines,
                  {"cosine similarity of query and key", space.words, space.words, "query position",
                   "key position", -1, 1, true});
  check("the cosines by hand = 1 - tsne_distances", by_hand, cosines);
  const double mask = cosines(6, 4), watching = cosines(2, 4);
  quote("\ncosine of the query of [MASK] with the key of 'door'      " + decimal(mask, 2) +
        "\ncosine of the query of 'watching' with the key of 'door' " + decimal(watching, 2));
  claim("the query of [MASK] has its largest cosine with the key of 'door'",
        nearest_keys(space, distances, "[MASK]", 1)[0] == "door", decimal(mask, 2));
  claim_less("it exceeds that of 'watching' with 'door' by more than 0.3", watching + 0.3, mask);
  compare_lengths(space, cosines);
}

void centre_keys(const QueryKeySpace& space) {
  section("Centring the keys");
  say("The mean of the keys can be far from that of the queries. A map then shows two",
      "groups and little else. But if we add a vector c to every key, each score of a",
      "query q grows by q . c / sqrt(8), the same for all keys. So the attention",
      "weights do not change, but the cosines do. CENTRING takes the c that moves the",
      "mean of the keys to the mean of the queries, as in AttentionViz (Yeh et al.", "2023).", "");
  const QueryKeySpace moved = centred(space);
  check("attention weights with centred keys = attention weights",
        attention_weights(moved.queries, moved.keys), attention_weights(space.queries, space.keys),
        1e-4);
  quote("cosine of [MASK] and 'door' with centred keys  " +
        decimal(cosine_by_hand(moved.queries, 6, moved.keys, 4), 2));
}

Tsne draw_map(const QueryKeySpace& space) {
  section("A map by t-SNE");
  say("Which queries and keys are similar? t-SNE draws a map: it gives each point i a",
      "position y_i in the plane so that near neighbours stay near.",
      "1. Row i of a matrix is the softmax over all j other than i of -beta_i d_ij. The",
      "   distance d_ij is 1 - cosine. beta_i is chosen so that each point has the same",
      "   effective number of neighbours: exp(entropy of row i), the PERPLEXITY.",
      "2. p (2n, 2n) is this matrix plus its transpose, divided by 4n: its sum is 1.",
      "3. On the map, q_ij is proportional to 1 / (1 + |y_i - y_j|^2), with sum 1. The",
      "   Kullback-Leibler divergence KL is 0 if q = p, and above 0 otherwise.",
      "4. Gradient descent on y reduces KL. (It has momentum: each step adds 0.5 to 0.8",
      "   times the step before. The first 100 of 1000 steps use 4 p in place of p.)", "",
      "The points are the queries and centred keys of the " + std::to_string(space.words.size()) +
          " words of the held-out",
      "sentences, each word at its first position: first in the door sentence, then in",
      "sentences of nine words, then with 'old' or 'again'. [MASK] is the pronoun.");
  const Tsne map = map_of(space, 15, 0);
  ScatterOptions options = scatter_options(space);
  options.title = "queries and centred keys of one head, by t-SNE";
  picture_points(lesson, "map", map.points, options);
  const Doubles in_space = tsne_distances(space.points(), metric);
  const Doubles on_map = tsne_distances(map.points, Distance::euclidean);
  say("", "The five keys nearest to the query of [MASK]:", "");
  quote("in 8 dimensions  " + text_of(nearest_keys(space, in_space, "[MASK]", 5)) +
        "\non the map       " + text_of(nearest_keys(space, on_map, "[MASK]", 5)) + "\n\nKL " +
        decimal(map.history.y.front(), 4) + " at first, " + decimal(map.kl, 4) +
        " after 1000 steps");
  claim_less("KL has fallen to less than a third of its first value", map.kl,
             map.history.y.front() / 3);
  say("", "The map does not explain the attention weights. It has the cosines, not the",
      "lengths. It has each noun at position 4 and each ending at position 7, so it",
      "cannot separate the token from the position. The scores above can.");
  return map;
}

void compare_maps(const QueryKeySpace& space, const Tsne& map) {
  section("Two seeds, two perplexities");
  say("The seed draws the first positions; we choose the perplexity. Four maps of the",
      "same points: KL (comparable only at the same perplexity, because p depends on",
      "it), distances from the key of 'door' to the queries of [MASK] and 'watching',",
      "and the fraction of points that keep their nearest neighbour.", "");
  Array values = zeros({4, 4});
  const Doubles in_space = tsne_distances(space.points(), metric);
  for (std::size_t m = 0; m < 4; ++m) {
    const Tsne t = m == 0 ? map : map_of(space, m < 2 ? 15 : 5, m % 2);
    const Doubles on_map = tsne_distances(t.points, Distance::euclidean);
    values(m, 0) = Real(t.kl);
    values(m, 1) = Real(std::sqrt(on_map(space.query("[MASK]"), space.key("door"))));
    values(m, 2) = Real(std::sqrt(on_map(space.query("watching"), space.key("door"))));
    values(m, 3) = Real(neighbours_kept(in_space, on_map));
  }
  quote(table(values, {"perplexity",
                       {"15, seed 0", "15, seed 1", "5, seed 0", "5, seed 1"},
                       {"KL", "door-[MASK]", "door-watching", "neighbours kept"},
                       2}));
  const double pca = neighbours_kept(
      in_space,
      tsne_distances(principal_components(unit_rows(space.points())), Distance::euclidean));
  const auto ratio = [&](std::size_t m) {  // of a distance with two seeds
    return std::exp(std::abs(std::log(values(m, 2) / values(m + 1, 2))));
  };
  say("", "PCA (principal component analysis) projects on the directions of most variance:");
  quote("neighbours kept by PCA " + decimal(pca, 2) + ", at random " +
        decimal(1 / double(2 * space.words.size() - 1), 2) +
        "\nlarger door-watching / smaller, perplexity 15: " + decimal(ratio(0), 2) +
        ", perplexity 5: " + decimal(ratio(2), 2));
  claim_less("each of the four maps keeps more nearest neighbours than PCA", pca,
             std::min({values(0, 3), values(1, 3), values(2, 3), values(3, 3)}));
  say("", "No map is the right one: distances differ between perplexities and can differ",
      "between seeds. Sizes of clusters and gaps between them may have no meaning",
      "(Wattenberg, Viegas and Johnson 2016, 'How to Use t-SNE Effectively'). Test an",
      "idea from a map by an experiment, as in lesson 17.");
}

void compare_with_lesson_01(const TrainedModel& t) {
  section("From lesson 01 to here");
  say("Lesson 01 began with uniform attention weights. You can now compute attention,",
      "masks and gradients by hand (02 to 09), build a GPT or a BERT from heads,",
      "positions and blocks (10 to 13), train it, compare its loss with a lower bound,",
      "find a leak (14, 15), and test by experiments what a head does (16 to 18). So",
      "you can read 'Attention Is All You Need', PyTorch's documentation and nanoGPT.", "",
      "attention weight from [MASK] to the object before training  " + trained(t.weight(0)),
      "after training                                              " + trained(t.weight(1)),
      "accuracy on the pronoun before training (mean of 8 seeds)   " + trained(t.accuracy(0)),
      "after training                                              " + trained(t.accuracy(1)), "",
      "  cp lessons/01_averaging.cpp lessons/99_mine.cpp   begin your own lesson:",
      "  ./heed lesson 99                                  build and run it", "",
      "To stop at each cosine: HEED_BRIEF=1 ./heed debug 18 (it trains first), and in",
      "gdb: break cosine_by_hand, continue, finish.");
}

int main() {
  opening(
      {"to compare a head's queries and keys, to draw them with t-SNE, and\n"
       "to say what such a map does not show",
       "cos(q, k) = q . k / (|q| |k|)    q, k (8)\n"
       "KL = sum over i, j of p_ij ln(p_ij / q_ij)    p, q (2n, 2n), n words",
       "van der Maaten and Hinton, \"Visualizing Data using t-SNE\", 2008,\n"
       "sections 2 and 3; Yeh et al., \"AttentionViz: A Global View of\n"
       "Transformer Attention\", 2023",
       "F.cosine_similarity; t-SNE: scikit-learn's TSNE(metric=\"euclidean\",\n"
       "method=\"exact\", init=\"random\", early_exaggeration=4), applied to\n"
       "F.normalize(points): half of its squared distance is 1 - cosine"});
  TrainedModel t;
  train_and_choose_head(t, in_brief(2000, 450));
  std::vector<Names> sentences = {with_blank(door_sentence(), Part::pronoun)};
  const QueryKeySpace of_door = query_key_space(t.model, t.head, sentences);
  compare_by_cosine(of_door);
  centre_keys(of_door);
  compare_keys(t.model, t.head);
  for (const std::size_t size : {9u, 10u})
    for (const Sentence& s : held_out_once([&](auto& s) { return s.words.size() == size; }))
      sentences.push_back(with_blank(s, Part::pronoun));
  const QueryKeySpace space = centred(query_key_space(t.model, t.head, sentences));
  compare_maps(space, draw_map(space));
  compare_with_lesson_01(t);
  questions("What is the map with perplexity 2? In draw_map, change 15 to 2.",
            "How many points keep their neighbour without centring? In the line of\n"
            "`space` in main, remove centred( ).",
            "Which keys are nearest to [MASK] by Euclidean distance? Set `metric` to\n"
            "Distance::euclidean.");
}
