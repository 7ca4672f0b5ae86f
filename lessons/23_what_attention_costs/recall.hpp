// recall.hpp: associative recall, a model with softmax or linear attention, and its training,
// for lesson 23.
#pragma once

#include <algorithm>
#include <cmath>

#include "estimate.hpp"
#include "linear_attention.hpp"

namespace heed {

constexpr std::size_t vocab = 64;  // the number of key tokens, and as many value tokens
constexpr std::size_t C = 32;      // width of the embeddings
constexpr std::size_t D = 8;       // width of queries, keys and values in attention

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

enum class Kind { softmax, linear };

// One layer of attention. Each pair is one token: its key comes from the key token, its value from
// the value token. A question is a key token, which gives the query.
struct RecallModel {
  RecallModel(const Scope& scope, Kind of_attention)
      : key_tokens(scope / "key_tokens", vocab, C),
        value_tokens(scope / "value_tokens", vocab, C),
        query(scope / "query", C, D, false),
        key(scope / "key", C, D, false),
        value(scope / "value", C, D, false),
        head(scope / "head", D, vocab),
        kind(of_attention) {}

  // (B, n, n): the attention weights. The right key of question i is that of pair i.
  Tensor weights(const Indices& key_of_pair) const {
    const Tensor x = key_tokens(key_of_pair);  // (B, n, C)
    return kind == Kind::softmax ? attention_weights(query(x), key(x))
                                 : linear_weights(query(x), key(x), /*causal=*/false);
  }
  Tensor operator()(const RecallBatch& batch) const {  // -> logits (B, n, vocab)
    return head(matmul(weights(batch.key), value(value_tokens(batch.value))));
  }

  nn::Embedding key_tokens, value_tokens;
  nn::Linear query, key, value, head;
  Kind kind;
};

struct RecallScore {
  double loss, accuracy, weight;  // weight: the mean attention weight on the right key
};

inline RecallScore score_of(const RecallModel& model, const RecallBatch& batch) {
  const NoGrad no_grad;
  const Tensor logits = model(batch), A = model.weights(batch.key);
  const Indices predicted = argmax(logits, -1);  // (B, n)
  double correct = 0, weight = 0;
  const std::size_t B = predicted.shape(0), n = predicted.shape(1);
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t i = 0; i < n; ++i)
      correct += predicted(b, i) == batch.value(b, i), weight += double(A.value()(b, i, i));
  const double questions = double(B * n);
  return {cross_entropy(logits, batch.value).item(), correct / questions, weight / questions};
}

// Trains on 512 new questions in each step. The learning rates are the best of 0.005, 0.01, 0.02,
// 0.04 and 0.08, by the mean loss over the lengths with another seed, 100. (With that seed, five
// times as many steps give linear attention an accuracy of 0.16 to 0.17 for n = 32: no more.)
// Appends the losses of the steps to `losses`.
inline RecallModel trained_recall(Kind kind, std::size_t n, std::uint64_t seed, Series& losses) {
  Parameters parameters;
  Generator initial(seed), g(1000 + seed);
  const RecallModel model({parameters, initial}, kind);
  const double lr = kind == Kind::softmax ? 0.02 : 0.04;
  const std::int64_t steps = in_brief(500, 150);
  optim::AdamW optimizer(parameters.tensors(), {lr, 0.9, 0.999, 1e-8, 0});
  const optim::WarmupCosine rate{lr, lr / 20, 20, steps};
  for (std::int64_t step = 0; step < steps; ++step) {
    const RecallBatch batch = new_pairs(g, 512 / n, n);
    const Tensor loss = cross_entropy(model(batch), batch.value);
    optim::zero_grad(parameters.tensors());
    backward(loss);
    optimizer.set_lr(rate.at(step));
    optimizer.step();
    losses.append(double(step), loss.item());
  }
  return model;
}

constexpr std::uint64_t first_seed = 1;

// What models with one kind of attention reach on held-out sequences of each length.
struct RecallRuns {
  Kind kind;
  std::vector<std::size_t> lengths = {};
  std::vector<std::vector<RecallScore>> scores = {};  // for each length, for each seed
  std::vector<RecallModel> longest = {};              // the model of the largest length, one seed
  Series losses = {};                                 // the training losses of that model

  // A measure of all seeds at length number i, and the smallest and the largest.
  std::vector<double> all(double RecallScore::*measure, std::size_t i) const {
    std::vector<double> values;
    for (const RecallScore& score : scores[i]) values.push_back(score.*measure);
    return values;
  }
  double smallest(double RecallScore::*measure, std::size_t i) const {
    const std::vector<double> values = all(measure, i);
    return *std::min_element(values.begin(), values.end());
  }
  double largest(double RecallScore::*measure, std::size_t i) const {
    const std::vector<double> values = all(measure, i);
    return *std::max_element(values.begin(), values.end());
  }
  Series curve(const std::string& name) const {
    Series series{name, {}, {}, /*points=*/true};
    for (std::size_t i = 0; i < lengths.size(); ++i)
      series.append(std::log2(double(lengths[i])), estimate(all(&RecallScore::accuracy, i)).mean);
    return series;
  }
};

inline RecallRuns train_recall(Kind kind, const std::vector<std::size_t>& lengths) {
  RecallRuns runs{kind, lengths};
  for (const std::size_t n : lengths) {
    Generator g(22);
    const RecallBatch held_out = new_pairs(g, 4096 / n, n);
    runs.scores.emplace_back();
    for (std::uint64_t seed = first_seed; seed < first_seed + (brief() ? 1 : 3); ++seed) {
      Series losses{
          (kind == Kind::softmax ? "softmax, " : "linear, ") + std::to_string(n) + " pairs",
          {},
          {}};
      const RecallModel model = trained_recall(kind, n, seed, losses);
      runs.scores.back().push_back(score_of(model, held_out));
      if (n == lengths.back() && seed == first_seed)
        runs.longest.push_back(model), runs.losses = losses;
    }
  }
  return runs;
}

// The mean over the seeds at each length, and in the next line its standard error.
inline std::string rows_of(const std::string& name, const RecallRuns& runs,
                           double RecallScore::*measure) {
  std::string means = "\n" + pad_right(name, 25), errors = "\n" + pad_right("", 25);
  for (std::size_t i = 0; i < runs.lengths.size(); ++i) {
    const std::vector<double> values = runs.all(measure, i);
    const bool several = values.size() > 1;
    means += pad_left(decimal(several ? estimate(values).mean : values[0], 3), 9);
    if (several) errors += pad_left("+-" + decimal(estimate(values).standard_error, 3), 9);
  }
  return means + (runs.scores[0].size() > 1 ? errors : "");
}

// The largest mean weight on the right key that rank D allows.
inline double weight_bound(std::size_t n) { return std::min(1.0, double(D) / double(n)); }

inline std::string table_of(const RecallRuns& soft, const RecallRuns& linear) {
  std::string lengths = pad_right("held-out sequences, n =", 25),
              guess = "\nguessing: accuracy 1/n   ", bound = "\nlinear: bound on weight  ";
  for (const std::size_t n : soft.lengths) {
    lengths += pad_left(std::to_string(n), 9);
    guess += pad_left(decimal(1 / double(n), 3), 9);
    bound += pad_left(decimal(weight_bound(n), 3), 9);
  }
  return lengths + rows_of("softmax: accuracy", soft, &RecallScore::accuracy) +
         rows_of("linear: accuracy", linear, &RecallScore::accuracy) + guess +
         rows_of("softmax: weight", soft, &RecallScore::weight) +
         rows_of("linear: weight", linear, &RecallScore::weight) + bound;
}

inline double lowest_accuracy(const RecallRuns& runs) {
  double lowest = 1;
  for (std::size_t i = 0; i < runs.lengths.size(); ++i)
    lowest = std::min(lowest, runs.smallest(&RecallScore::accuracy, i));
  return lowest;
}

// The largest of (mean weight on the right key) / (its bound).
inline double largest_over_bound(const RecallRuns& runs) {
  double largest = 0;
  for (std::size_t i = 0; i < runs.lengths.size(); ++i)
    largest =
        std::max(largest, runs.largest(&RecallScore::weight, i) / weight_bound(runs.lengths[i]));
  return largest;
}

inline Series guessing(const std::vector<std::size_t>& lengths) {
  Series series{"guessing", {}, {}};
  for (const std::size_t n : lengths) series.append(std::log2(double(n)), 1 / double(n));
  return series;
}

// The attention weights of one sequence, whose pairs are in the order of their largest feature, so
// that keys with nearly the same features are neighbours.
inline Array sorted_weights(const RecallModel& model, std::size_t n) {
  const NoGrad no_grad;
  Generator g(3);
  RecallBatch batch = new_pairs(g, 1, n);
  const Indices largest = argmax(phi(model.key(model.key_tokens(batch.key))), -1);  // (1, n)
  std::vector<std::size_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return largest(0, a) < largest(0, b); });
  Indices key = batch.key;
  for (std::size_t i = 0; i < n; ++i) key(0, i) = batch.key(0, order[i]);
  return select(model.weights(key), 0, 0).value();
}

// The attention weights of a softmax model and of a linear one, side by side.
inline void draw_weights(const std::string& lesson, const RecallModel& soft,
                         const RecallModel& linear, std::size_t n) {
  HeatmapOptions options{"attention weights for n = " + std::to_string(n) +
                         " pairs; the right key is on the diagonal"};
  options.row_title = "query (key token)", options.column_title = "key (pair)";
  options.low = 0, options.high = 1;
  picture(lesson, "weights", {sorted_weights(soft, n), sorted_weights(linear, n)},
          {"softmax", "linear"}, options, 2);
}

}  // namespace heed
