// pictures.hpp: queries and keys, and the tables and plots of lesson 19.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>

#include "estimate.hpp"
#include "fill_in_the_blank.hpp"
#include "gnuplot_picture.hpp"
#include "heed/draw/table.hpp"
#include "heed/study/heads.hpp"
#include "heed/study/tsne.hpp"

namespace heed {

inline Names blanked(const Sentence& s) { return with_blank(s, Part::pronoun); }

inline std::size_t index_in(const Names& names, const std::string& name) {
  return std::size_t(std::find(names.begin(), names.end(), name) - names.begin());
}
inline bool is_in(const Names& names, const std::string& name) {
  return index_in(names, name) < names.size();
}

// The query and the key of one head for each of n words.
struct QueryKeySpace {
  Array queries, keys;  // (n, 8)
  Names words;

  // All 2n points, (2n, 8); the queries come first.
  Array points() const { return xt::concatenate(xt::xtuple(queries, keys), 0); }

  // The same with length 1.
  Array unit_points() const {
    const Array x = points(), lengths = xt::sqrt(xt::sum(x * x, {1}));
    return x / xt::view(lengths, xt::all(), xt::newaxis());
  }

  // Adds the rows of `s` whose words are not yet included.
  void add_new_words(const QueryKeySpace& s) {
    for (std::size_t i = 0; i < s.words.size(); ++i) {
      if (is_in(words, s.words[i])) continue;
      const Array query = xt::view(s.queries, xt::range(i, i + 1)),
                  key = xt::view(s.keys, xt::range(i, i + 1));  // (1, 8)
      queries = words.empty() ? query : Array(xt::concatenate(xt::xtuple(queries, query), 0));
      keys = words.empty() ? key : Array(xt::concatenate(xt::xtuple(keys, key), 0));
      words.push_back(s.words[i]);
    }
  }
};

// The lengths (n) of the rows of x (n, D).
inline Array row_lengths(const Array& x) { return xt::sqrt(xt::sum(x * x, {1})); }

// A table of numbers that differ on other machines.
inline void quote_table(const Array& x, const Names& rows, const Names& columns,
                        const std::string& title = "") {
  quote(table(x, {title, rows, columns, 2}));
}

inline void show_lengths(const std::vector<double>& weights,
                         const std::vector<std::vector<double>>& changes) {
  const auto line = [](const std::string& name, const std::vector<double>& x) {
    const Estimate e = estimate(x);
    return pad_right(name, 52) + decimal(e.mean, 2) + " +- " + decimal(e.standard_error, 2);
  };
  quote(line("mean weight from [MASK] to the object", weights) + "\n" +
        line("change with equal lengths of all keys, as trained", changes[0]) + "\n" +
        line("  with centred keys", changes[1]) + "\n" + line("  with M", changes[2]));
}

// The index of the key with the largest cosine with query i.
inline std::size_t nearest_key(const QueryKeySpace& s, std::size_t i) {
  std::vector<std::size_t> keys(s.words.size());
  std::iota(keys.begin(), keys.end(), s.words.size());
  return nearest(tsne_distances(s.points(), Distance::cosine), i, keys);
}

inline bool is_noun(const std::string& word) {
  return std::any_of(kinds().begin(), kinds().end(), [&](const Kind& kind) {
    return is_in(kind.singular, word) || is_in(kind.plural, word);
  });
}
inline bool is_ending_of_people(const std::string& word) { return is_in(subject_endings(), word); }
inline bool is_ending_of_object(const std::string& word) {
  return std::any_of(kinds().begin(), kinds().end(),
                     [&](const Kind& kind) { return kind.ending == word; });
}

// The fraction of points whose nearest neighbour in the space is also the nearest in the plane.
inline double neighbours_kept(const QueryKeySpace& s, const Array& plane) {
  const Doubles in_space = tsne_distances(s.points(), Distance::cosine),
                in_plane = tsne_distances(plane, Distance::euclidean);
  std::vector<std::size_t> all(plane.shape(0));
  std::iota(all.begin(), all.end(), std::size_t(0));
  double kept = 0;
  for (const std::size_t i : all)
    kept += nearest(in_space, i, all) == nearest(in_plane, i, all) ? 1 : 0;
  return kept / double(all.size());
}

// The points (m, D), projected on the two directions of largest variance: (m, 2). Principal
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

// The t-SNE map, rotated so that its direction of largest variance is horizontal, and mirrored so
// that the query of [MASK] is on the right and that of 'when' in the upper half.
inline Array rotated(const QueryKeySpace& s, const Array& map) {
  Array points = principal_components(map);
  if (points(index_in(s.words, "[MASK]"), 0) < 0) xt::col(points, 0) *= Real(-1);
  if (points(index_in(s.words, "when"), 1) < 0) xt::col(points, 1) *= Real(-1);
  return points;
}

// 0 query, 1 key of a noun, 2 of an ending, 3 of another word
inline std::size_t group_of(const QueryKeySpace& s, std::size_t point) {
  if (point < s.words.size()) return 0;
  const std::string& word = s.words[point - s.words.size()];
  return is_noun(word) ? 1 : is_ending_of_people(word) || is_ending_of_object(word) ? 2 : 3;
}

inline void picture_of_map(const QueryKeySpace& s, const Tsne& map) {
  const Names queries = {"[MASK]", "watching", "when", "the"},
              keys = {"door", "dogs", "sneezed", "spoke", "laughed", "opened", "old"};
  ScatterOptions options;
  const std::size_t n = s.words.size();
  for (std::size_t i = 0; i < 2 * n; ++i) {
    const std::string& word = s.words[i % n];
    options.labels.push_back(is_in(i < n ? queries : keys, word) ? word : "");
    options.groups.push_back(group_of(s, i));
  }
  options.title = "queries and centred keys of one head, by t-SNE";
  options.group_names = {"query", "key: noun", "key: ending", "key: other"};
  options.width = 74, options.height = 22;
  picture_points("19_query_key_space", "map", rotated(s, map.points), options);
}

// What a map keeps: the fraction of nearest neighbours, and of triples in order.
struct MapRow {
  double neighbours, triples;
};

inline void show_maps(const std::vector<MapRow>& rows) {
  Array table_rows = zeros({rows.size(), 2});
  for (std::size_t i = 0; i < rows.size(); ++i)
    table_rows(i, 0) = Real(rows[i].neighbours), table_rows(i, 1) = Real(rows[i].triples);
  quote_table(table_rows, {"t-SNE, seed 0", "t-SNE, seed 1", "PCA", "random positions"},
              {"nearest neighbours kept", "triples in order"});
  guard("each map keeps more nearest neighbours than PCA",
        std::min(rows[0].neighbours, rows[1].neighbours) > rows[2].neighbours,
        decimal(rows[2].neighbours, 2));
}

// The mean of the rows of x (n, 9) whose words are of this kind: (9).
inline Array mean_row(const Array& x, const Names& words, bool (*is_kind)(const std::string&)) {
  Array sum = zeros({x.shape(1)});
  Real count = 0;
  for (std::size_t w = 0; w < words.size(); ++w)
    if (is_kind(words[w])) sum += xt::row(x, std::ptrdiff_t(w)), count += 1;
  return sum / count;
}

inline bool is_other(const std::string& word) {
  return !is_noun(word) && !is_ending_of_people(word) && !is_ending_of_object(word);
}

inline const std::vector<bool (*)(const std::string&)> groups = {is_noun, is_ending_of_people,
                                                                 is_ending_of_object, is_other};
inline const Names group_names = {"nouns", "people's endings", "objects' endings", "other words"};

inline void show_scores_by_position(const Names& words, const Array& scores) {
  Array rows = zeros({4, 6});  // the mean of the positions 0 to 3, then 4 to 8
  for (std::size_t g = 0; g < 4; ++g) {
    const Array row = mean_row(scores, words, groups[g]);
    rows(g, 0) = Real(xt::mean(xt::view(row, xt::range(0, 4)))());
    for (std::size_t t = 4; t < 9; ++t) rows(g, t - 3) = row(t);
  }
  quote(table(rows, {"", group_names, {"0 to 3", "4", "5", "6", "7", "8"}, 1}));
}

// How much more the words score at the positions 4 and 5 than at 0 to 3, mean of all words.
inline double more_at_4_and_5(const Array& scores) {  // (n words, 9)
  return xt::mean(xt::view(scores, xt::all(), xt::range(4, 6)))() -
         xt::mean(xt::view(scores, xt::all(), xt::range(0, 4)))();
}

// Prints a row for each model: the scores of the kinds of words minus that of other words, mean of
// the positions; and the weights of [MASK] on the noun and the ending in sentences about the
// subject.
template <class Trained>
void show_scores_of_models(const Names& words, const std::vector<Array>& scores,
                           const std::vector<Array>& weights, const std::vector<Trained>& models) {
  std::string text =
      "                people's  objects'  positions  weight on  weight on\n"
      "         nouns   endings   endings    4 and 5   the noun  the ending";
  for (std::size_t m = 0; m < models.size(); ++m) {
    text += "\nmodel " + std::to_string(m + 1);
    if (models[m].head.layer == 0) {
      const Array other = mean_row(scores[m], words, is_other);
      for (const std::size_t g : {0, 1, 2})
        text += pad_left(decimal(xt::mean(mean_row(scores[m], words, groups[g]) - other)(), 1),
                         g == 0 ? 7 : 10);
      text += pad_left(decimal(more_at_4_and_5(scores[m]), 1), 11);
    } else {
      text += pad_right("      (a head of layer 1)", 38);
    }
    text += pad_left(decimal(weights[m](0), 2), 11) + pad_left(decimal(weights[m](1), 2), 12);
  }
  quote(text);
}

}  // namespace heed
