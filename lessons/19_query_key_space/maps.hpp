// maps.hpp: maps of queries and keys by t-SNE, and how much they agree with the space and with
// each other.
#pragma once

#include "heed/draw/table.hpp"
#include "query_keys.hpp"

namespace heed {

inline const std::string lesson = "19_query_key_space";
const Distance metric = Distance::cosine;  // of the maps

inline Tsne map_of(const QueryKeySpace& space, double perplexity, std::uint64_t seed) {
  TsneOptions options;
  options.perplexity = perplexity, options.seed = seed, options.distance = metric;
  return tsne(space.points(), options);
}

// Groups and labels for a map of the 2n points. Only some words have labels.
inline ScatterOptions scatter_options(const QueryKeySpace& space) {
  const Names queries = {"[MASK]", "watching", "when", "the", "opened", "stopped"},
              keys = {"door", "dogs", "bells", "sneezed", "spoke", "opened", "old", "when"};
  const auto label = [](const Names& names, const std::string& word) {
    return std::find(names.begin(), names.end(), word) != names.end() ? word : "";
  };
  ScatterOptions options;
  for (const std::string& word : space.words) {
    options.labels.push_back(label(queries, word));
    options.groups.push_back(0);
  }
  for (const std::string& word : space.words) {
    options.labels.push_back(label(keys, word));
    options.groups.push_back(is_noun(word) ? 1 : is_ending(word) ? 2 : 3);
  }
  options.group_names = {"query", "key: noun", "key: ending", "key: other"};
  options.width = 74;
  options.height = 26;
  return options;
}

// The fraction of points whose nearest neighbour by one matrix of distances is also their nearest
// by the other.
inline double neighbours_kept(const Doubles& distances, const Doubles& map_distances) {
  std::vector<std::size_t> all(distances.shape(0));
  std::iota(all.begin(), all.end(), std::size_t(0));
  const auto kept = [&](std::size_t i) {
    return nearest(distances, i, all) == nearest(map_distances, i, all);
  };
  return static_cast<double>(std::count_if(all.begin(), all.end(), kept)) /
         static_cast<double>(all.size());
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

// The map, rotated so that its direction of largest variance is horizontal, and mirrored so that
// [MASK] is on the right and the query of 'when' in the upper half. All distances stay the same.
inline Array rotated(const Array& map_points, const QueryKeySpace& space) {
  Array points = principal_components(map_points);
  if (points(space.query("[MASK]"), 0) < 0) xt::col(points, 0) *= Real(-1);
  if (points(space.query("when"), 1) < 0) xt::col(points, 1) *= Real(-1);
  return points;
}

inline Tsne draw_map(const QueryKeySpace& space) {
  section("A map by t-SNE");
  say("Which queries and keys are similar? t-SNE (t-distributed stochastic neighbour",
      "embedding) draws a map: it gives each point i a position y_i in the plane so",
      "that near neighbours stay near.",
      "1. Row i of a matrix is the softmax over all j other than i of -beta_i d_ij. As",
      "   d_ij is 1 - cosine, near points have a large probability. Bisection finds the",
      "   beta_i that makes exp(entropy of row i), the perplexity (lesson 14), 15. So",
      "   each point has as many effective neighbours, in dense and in sparse regions.",
      "2. p (2n, 2n) is this matrix plus its transpose, divided by 4n: its sum is 1.",
      "3. On the map, q_ij is proportional to 1 / (1 + |y_i - y_j|^2), with sum 1. This",
      "   falls slowly with the distance. So points that are not neighbours can be far",
      "   apart, because the plane has less room than 8 dimensions.",
      "4. Gradient descent on y reduces the Kullback-Leibler divergence KL. It is 0 if",
      "   q = p, otherwise above 0, as ln x < x - 1 unless x = 1 (lesson 14). Momentum",
      "   adds 0.5 to 0.8 times the previous step to each step. In the first 100 of",
      "   1000 steps 4 p replaces p, which draws clusters together: EARLY EXAGGERATION.", "",
      "The points are the queries and centred keys of the " + std::to_string(space.words.size()) +
          " words of the held-out",
      "sentences. If a word has several positions, we take its first occurrence: in the",
      "door sentence, else in sentences of nine words, else in those with 'old' or",
      "'again'. [MASK] is the pronoun. (The map is rotated so that its largest variance",
      "is horizontal. '@' marks points of two groups.)");
  const Tsne map = map_of(space, 15, 0);
  ScatterOptions options = scatter_options(space);
  options.title = "queries and centred keys of one head, by t-SNE (seed 0)";
  picture_points(lesson, "map", rotated(map.points, space), options);
  options.title = "the same queries and keys, by t-SNE with seed 1";
  const Plot other = draw_scatter("runs/lessons/" + lesson, "map_seed_1",
                                  rotated(map_of(space, 15, 1).points, space), options);
  picture(other);
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

inline void compare_maps(const QueryKeySpace& space, const Tsne& map) {
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
        "\ndoor-watching with one seed, divided by that with the other:\nperplexity 15 " +
        decimal(ratio(0), 2) + ", perplexity 5 " + decimal(ratio(2), 2));
  claim_less("each of the four maps keeps more than half of the nearest neighbours", 0.5,
             std::min({values(0, 3), values(1, 3), values(2, 3), values(3, 3)}));
  claim_less("each of the four maps keeps more nearest neighbours than PCA", pca,
             std::min({values(0, 3), values(1, 3), values(2, 3), values(3, 3)}));
  say("", "Each map keeps the nearest neighbour of more than half of the points. But the",
      "distances differ between perplexities and can differ between seeds, so no map is",
      "the right one. Sizes of clusters and gaps between them may have no meaning",
      "(Wattenberg, Viegas and Johnson 2016, 'How to Use t-SNE Effectively'). Test an",
      "idea from a map by an experiment, as in lesson 18.");
}

}  // namespace heed
