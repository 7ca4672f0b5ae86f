// recall.hpp: the sequences of associative recall, and the table and plots of its results, for
// lesson 23.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>

#include "estimate.hpp"
#include "gnuplot_picture.hpp"

namespace heed {

constexpr std::size_t vocab = 64;  // the number of key tokens, and as many value tokens

// Sequences of n pairs. All keys of a sequence are different, and all values. The model is asked
// for the value of each key: `value` also contains the answers. Keep n below vocab. With n = vocab
// every sequence has all values, so their sum is constant; then training ends in a local optimum
// with almost no weight on the right key, and softmax attention too has an accuracy of only 0.08.
// (That is due to n = vocab, not to n = 64: with vocab = 128 and n = 64 it reaches 1.00.)
struct RecallBatch {
  Indices key, value;  // (B, n)
};

inline RecallBatch new_pairs(Generator& g, std::size_t B, std::size_t n) {
  RecallBatch batch{indices({B, n}), indices({B, n})};
  for (std::size_t b = 0; b < B; ++b) {
    const Indices keys = g.randperm(vocab), values = g.randperm(vocab);
    for (std::size_t i = 0; i < n; ++i) batch.key(b, i) = keys(i), batch.value(b, i) = values(i);
  }
  return batch;
}

// What a model reaches on new sequences. weight: the mean attention weight on the right key.
struct RecallScore {
  double loss, accuracy, weight;
};
using Scores = std::vector<RecallScore>;  // one for each seed

// Measures a model on 4,096 questions.
template <class Model>
RecallScore score(const Model& model, std::size_t n, std::uint64_t sequences) {
  const NoGrad no_grad;
  Generator g(sequences);
  const RecallBatch batch = new_pairs(g, 4096 / n, n);
  const Tensor logits = model(batch), diagonal(xt::eye<Real>(n));
  const double correct = double(xt::sum(xt::equal(argmax(logits, -1), batch.value))());
  return {cross_entropy(logits, batch.value).item(), correct / double(batch.key.size()),
          double(n) * mean(model.weights(batch.key) * diagonal).item()};
}

// The scores of one kind of attention at each length.
struct RecallRow {
  std::string name;
  std::vector<Scores> scores = {};

  std::vector<double> all(double RecallScore::*measure, std::size_t length) const {
    std::vector<double> values;
    for (const RecallScore& score : scores[length]) values.push_back(score.*measure);
    return values;
  }
  Estimate loss(std::size_t length) const { return estimate(all(&RecallScore::loss, length)); }
  Estimate accuracy(std::size_t length) const {
    return estimate(all(&RecallScore::accuracy, length));
  }
};

// The difference of the accuracies of b and a, for each seed.
inline Estimate paired_change(const Scores& a, const Scores& b) {
  std::vector<double> changes;
  for (std::size_t i = 0; i < a.size(); ++i) changes.push_back(b[i].accuracy - a[i].accuracy);
  return estimate(changes);
}

inline double weight_bound(std::size_t n, std::size_t D) {
  return std::min(1.0, double(D) / double(n));
}

// The largest of (mean weight on the right key) / (its bound).
inline double largest_over_bound(const RecallRow& row, const std::vector<std::size_t>& lengths,
                                 std::size_t D) {
  double largest = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    for (const RecallScore& score : row.scores[i])
      largest = std::max(largest, score.weight / weight_bound(lengths[i], D));
  return largest;
}

// The mean over the seeds, and below it its standard error if that is not 0: at each of four
// lengths, or at the last ones only.
inline std::string lines_of(const std::string& name, const RecallRow& row,
                            double RecallScore::*measure) {
  const std::string missing(9 * (4 - row.scores.size()), ' ');
  std::string means = "\n" + pad_right(name, 28) + missing, errors = means;
  errors.replace(1, 28, 28, ' ');
  double largest = 0;
  for (std::size_t i = 0; i < row.scores.size(); ++i) {
    const Estimate e = estimate(row.all(measure, i));
    means += pad_left(decimal(e.mean, 3), 9);
    errors += pad_left("+-" + decimal(e.standard_error, 3), 9);
    largest = std::max(largest, e.standard_error);
  }
  return means + (largest < 0.0005 ? "" : errors);
}

inline std::string table_of(const std::vector<RecallRow>& rows,
                            const std::vector<std::size_t>& lengths, std::size_t D) {
  std::string text = pad_right("accuracy, n =", 28), bound = "\n" + pad_right("bound D / n", 28),
              guess = "\n" + pad_right("guessing, 1 / n", 28);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    text += pad_left(std::to_string(lengths[i]), 9);
    guess += pad_left(decimal(1 / double(lengths[i]), 3), 9);
    bound += pad_left(decimal(weight_bound(lengths[i], D), 3), 9);
  }
  for (const RecallRow& row : rows) text += lines_of(row.name, row, &RecallScore::accuracy);
  text += guess + "\nmean weight on the right key";
  for (const RecallRow& row : rows) text += lines_of(row.name, row, &RecallScore::weight);
  return text + bound;
}

// Accuracy and mean weight on the right key against n, side by side.
inline void draw_recall(const std::string& lesson, const std::vector<RecallRow>& rows,
                        const std::vector<std::size_t>& lengths, std::size_t D) {
  const Names colors = {"#D55E00", "#0072B2", "#009E73"};
  std::string data, accuracies, weights;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    Array points = zeros({lengths.size(), 5});
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      const Estimate weight = estimate(rows[r].all(&RecallScore::weight, i));
      xt::row(points, int(i)) =
          Array{Real(lengths[i]), Real(rows[r].accuracy(i).mean), Real(weight.mean),
                1 / Real(lengths[i]), Real(weight_bound(lengths[i], D))};
    }
    const std::string block = "$row" + std::to_string(r);
    data += gnuplot_block("row" + std::to_string(r), points);
    const std::string style = " with linespoints pt 7 ps 0.8 lw 2 lc rgb '" + colors[r] +
                              "' title '" + rows[r].name + "', ";
    accuracies += block + " using 1:2" + style;
    weights += block + " using 1:3" + style;
  }
  picture_by_gnuplot(lesson, "recall",
                     data + "set logscale x 2\nset xtics (4, 8, 16, 32)\nset xrange [3.5:37]\n" +
                         "set yrange [0:1.05]\nset xlabel 'pairs n'\n" +
                         "set key at screen 0.62, 0.02 right bottom\n" +
                         "set multiplot layout 1,2 margins 0.08,0.98,0.37,0.91 spacing 0.1\n" +
                         "set title 'accuracy'\nplot " + accuracies +
                         "$row0 using 1:4 with lines dt 2 lw 2 lc rgb '#888888' title 'guessing "
                         "(left), bound D / n (right)'\n" +
                         "unset key\nset title 'mean weight on the right key'\nplot " + weights +
                         "$row0 using 1:5 with lines dt 2 lw 2 lc rgb '#888888'\nunset multiplot");
}

// The sequence with its pairs in the order of the largest feature of their keys (1, n, D), so that
// keys with nearly the same features are neighbours.
inline Indices sorted_by_largest(const Indices& key, const Tensor& features) {
  const Indices largest = argmax(features, -1);  // (1, n)
  std::vector<std::size_t> order(key.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return largest(0, a) < largest(0, b); });
  Indices sorted = key;
  for (std::size_t i = 0; i < order.size(); ++i) sorted(0, i) = key(0, order[i]);
  return sorted;
}

// Plots the attention weights (n, n) of a model with softmax and of one with linear attention, for
// the same kind of sequence. phi(keys) are the features.
template <class Model>
void draw_weights(const std::string& lesson, const std::vector<Model>& models,
                  const std::function<Tensor(const Tensor&)>& phi) {
  const NoGrad no_grad;
  std::vector<Array> weights;
  for (const Model& model : models) {
    Generator g(3);
    const Indices key = new_pairs(g, 1, 32).key;
    const Indices sorted = sorted_by_largest(key, phi(model.key(model.key_tokens(key))));
    weights.push_back(select(model.weights(sorted), 0, 0).value());
  }
  HeatmapOptions options{"attention weights for 32 pairs; the right key is on the diagonal"};
  options.row_title = "query (key token)", options.column_title = "key (pair)";
  options.low = 0, options.high = 1;
  picture(lesson, "weights", weights, {"softmax", "linear"}, options, 2);
}

}  // namespace heed
