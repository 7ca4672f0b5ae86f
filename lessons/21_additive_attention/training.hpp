// training.hpp: training and testing of the four translators of lesson 21.
#pragma once

#include "estimate.hpp"
#include "gnuplot_picture.hpp"
#include "translator.hpp"

namespace heed {

constexpr std::size_t width = 48;                             // C of all models
const std::vector<std::size_t> more_words = {0, 16, 32, 48};  // characters added to a test line

// A kind of context vector and its learning rate. With two other seeds and another test_seed none
// of 0.0025, 0.005, 0.0075, 0.01, 0.02 and 0.03 was better by more than one standard error.
struct Setting {
  std::string name;
  Score score;
  double rate;
};
inline const std::vector<Setting> settings = {{"fixed context vector", Score::none, 0.02},
                                              {"additive", Score::additive, 0.02},
                                              {"dot product", Score::dot, 0.0075},
                                              {"dot product / sqrt(C)", Score::scaled_dot, 0.01}};

inline Tensor loss_of(const Translator& model, const DateBatch& batch) {
  const std::size_t N = batch.targets.shape(1);
  return cross_entropy(model.decode(batch.inputs, N, &batch.targets).logits, batch.targets);
}

// Trains on lines with a date and on lines with a date and a time, in turn. Appends the losses of
// the steps to `losses`.
inline Translator train(const Setting& setting, std::uint64_t seed, std::int64_t steps,
                        Series& losses) {
  Generator weights(seed), data(seed + 1000);  // the same data for all settings
  Parameters parameters;
  const Translator model({parameters, weights}, setting.score, width);
  optim::AdamW optimizer(parameters, {setting.rate, 0.9, 0.99, 1e-8, 0});  // no weight decay
  const optim::WarmupCosine schedule{setting.rate, setting.rate / 20, 20, steps};
  for (std::int64_t step = 0; step < steps; ++step) {
    const bool with_time = step % 2 == 1;
    const DateBatch batch = new_batch(data, 16, with_time, training_length(with_time), false);
    const Tensor loss = loss_of(model, batch);
    optim::zero_grad(parameters);
    loss.backward();
    optim::clip_grad_norm(parameters, 1);
    optimizer.set_lr(schedule.at(step));
    optimizer.step();
    losses.append(double(step), loss.item());
  }
  return model;
}

// The fraction of lines whose whole ISO form is right.
inline double accuracy(const Translator& model, const DateBatch& batch) {
  const NoGrad no_grad;
  const Indices predicted = argmax(model.decode(batch.inputs, batch.targets.shape(1)).logits, -1);
  double right = 0;
  for (std::size_t b = 0; b < batch.target_texts.size(); ++b)
    right += text_of(predicted, b) == batch.target_texts[b];
  return right / double(batch.target_texts.size());
}

// One setting, trained with several seeds.
struct Result {
  std::string name;
  std::int64_t steps;
  std::vector<Translator> models;                            // one for each seed
  std::vector<std::vector<std::vector<double>>> accuracies;  // [with time][more words][seed]
  Series losses = {};  // the training losses of the first seed

  Estimate accuracy(bool with_time, std::size_t more = 0) const {
    return estimate(accuracies.at(with_time).at(more));
  }
};

// The test lines depend on `test_seed` only, so they are the same for all models.
inline Result train_and_test(const Setting& setting, std::int64_t steps, std::uint64_t seeds,
                             std::uint64_t test_seed = 2026) {
  Result result{setting.name, steps, {}, {2, {more_words.size(), std::vector<double>()}}};
  result.losses.name = setting.name;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Series losses;
    result.models.push_back(train(setting, seed, steps, seed == 1 ? result.losses : losses));
    Generator test(test_seed);
    for (const bool with_time : {false, true})
      for (std::size_t m = 0; m < more_words.size(); ++m) {
        const std::size_t length = training_length(with_time) + more_words[m];
        result.accuracies[with_time][m].push_back(
            accuracy(result.models.back(),
                     new_batch(test, std::size_t(in_brief(100, 50)), with_time, length, true)));
      }
  }
  return result;
}

// "additive                  400   0.99 +- 0.01    0.82 +- 0.03    0.40 +- 0.04": date, date and
// time, and the latter on lines with the most words. One seed has no standard error.
inline std::string row_of(const Result& r) {
  const auto text = [&](bool with_time, std::size_t more = 0) {
    const Estimate e = r.accuracy(with_time, more);
    return decimal(e.mean, 2) + (r.models.size() > 1 ? " +- " + decimal(e.standard_error, 2) : "");
  };
  return pad_right(r.name, 24) + pad_left(std::to_string(r.steps), 5) + "   " +
         pad_right(text(false), 15) + pad_right(text(true), 16) + text(true, more_words.size() - 1);
}

// A curve of the picture: accuracy against the length of the lines.
struct Curve {
  const Result* result;
  bool with_time;
  std::string label, colour;
};

// Rows: length, mean accuracy, standard error (0 if there is one seed only).
inline Array points_of(const Curve& curve) {
  Array points = zeros({more_words.size(), 3});
  for (std::size_t m = 0; m < more_words.size(); ++m) {
    const Estimate e = curve.result->accuracy(curve.with_time, m);
    points(m, 0) = Real(training_length(curve.with_time) + more_words[m]);
    points(m, 1) = Real(e.mean);
    points(m, 2) = Real(curve.result->models.size() > 1 ? e.standard_error : 0);
  }
  return points;
}

// Draws the curves: circles for lines with a date, dashes and squares for lines with a date and a
// time.
inline void picture_of_lengths(const std::string& lesson, const std::vector<Curve>& curves) {
  std::string data, plots;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const std::string name = "c" + std::to_string(i);
    data += gnuplot_block(name, points_of(curves[i]));
    plots += (i > 0 ? ", $" : "plot $") + name + " using 1:2:3 with yerrorlines lw 2 ps 1 pt " +
             (curves[i].with_time ? "5 dt 2" : "7") + " lc rgb '" + curves[i].colour + "' title '" +
             curves[i].label + "'";
  }
  const std::size_t first = training_length(false),
                    last = training_length(true) + more_words.back();
  picture_by_gnuplot(lesson, "length",
                     data +
                         "set title 'accuracy on held-out dates (mean, standard error)'\n"
                         "set xlabel 'length of the line (characters)'\nset ylabel 'accuracy'\n"
                         "set key at graph 0.7,0.61 Left reverse\nset yrange [-0.03:1.05]\n"
                         "set xrange [" +
                         std::to_string(first - 1) + ":" + std::to_string(last + 1) +
                         "]\nset xtics " + std::to_string(first) + ",8\n" + plots);
}

inline void claim_above(const std::string& what, double larger, double smaller) {
  claim(what, larger > smaller, decimal(larger, 3) + " and " + decimal(smaller, 3));
}

// Claims about the rows of the table: one result for each of `settings`, then the fixed context
// vector with 3 times the steps.
inline void claim_accuracies(const std::vector<Result>& results) {
  const Result &fixed = results[0], &additive = results[1], &longer = results[4];
  const double margin = brief() ? 0 : 0.1;
  claim_above("date: additive is above the fixed context vector by more than 0.3",
              additive.accuracy(false).mean, fixed.accuracy(false).mean + 0.3);
  claim_above("date and time: additive is above a fixed vector with 3 times the steps",
              additive.accuracy(true).mean, longer.accuracy(true).mean + (brief() ? 0.1 : 0.3));
  claim_above("fixed, 3 times the steps: a time costs more accuracy than 16 characters",
              longer.accuracy(false, 1).mean, longer.accuracy(true).mean + (brief() ? 0.1 : 0.3));
  claim_above("additive, date and time: 48 more characters of words lower the accuracy",
              additive.accuracy(true).mean, additive.accuracy(true, 3).mean + margin);
  for (const std::size_t i : {1u, 3u})
    claim_above("date and time: " + results[i].name + " is above dot product",
                results[i].accuracy(true).mean, results[2].accuracy(true).mean + margin);
}

// The mean attention weights (2, 3) on held-out lines with date and time: rows the output
// characters of the date and of the time, columns the input characters of the date, of the time,
// and all others.
inline Array weights_by_part(const Translator& model, const DateBatch& batch) {
  const NoGrad no_grad;
  const Array A = model.decode(batch.inputs, 16, &batch.targets).weights.value();  // (B, 16, S)
  Array means = zeros({2, 3});
  for (std::size_t b = 0; b < A.shape(0); ++b) {
    const std::size_t date = batch.lines[b].find(batch.dates[b]),
                      time = batch.lines[b].find(batch.times[b]);
    for (std::size_t i = 0; i < 16; ++i)
      for (std::size_t j = 0; j < A.shape(2); ++j) {
        const std::size_t part = j >= date && j < date + batch.dates[b].size()   ? 0
                                 : j >= time && j < time + batch.times[b].size() ? 1
                                                                                 : 2;
        if (i != 10) means(i < 10 ? 0 : 1, part) += A(b, i, j);  // character 10 is the T
      }
  }
  const Real B = Real(A.shape(0));
  xt::row(means, 0) /= 10 * B, xt::row(means, 1) /= 5 * B;
  return means;
}

}  // namespace heed
