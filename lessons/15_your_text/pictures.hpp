// pictures.hpp: the tables and the plots of lesson 15.
#pragma once

#include <algorithm>
#include <numeric>

#include "estimate.hpp"
#include "gnuplot_picture.hpp"
#include "heed/base/utf8.hpp"
#include "heed/text/corpus.hpp"
#include "ngram.hpp"

namespace heed {

inline void print_table(const std::string& table) {
  print_text("\n" + table, true, SourceLocation::current());
}

inline std::string mean_and_error(const Estimate& e) {
  return decimal(e.mean, 3) + " +- " + decimal(e.standard_error, 3);
}

// Prints inputs and targets of each window of a batch, as characters and as ids.
inline void show_batch(const Batch& batch, const Vocabulary& vocabulary) {
  std::string table;
  for (std::size_t b = 0; b < batch.inputs.shape(0); ++b) {
    std::string lines[4] = {"inputs     ", "           ", "targets    ", "           "};
    for (std::size_t t = 0; t < batch.inputs.shape(1); ++t)
      for (const bool target : {false, true}) {
        const std::int64_t id = (target ? batch.targets : batch.inputs)(b, t);
        lines[2 * target] += pad_left(printable(vocabulary.decode(id)), 4);
        lines[2 * target + 1] += pad_left(std::to_string(id), 4);
      }
    for (const std::string& line : lines) table += line + "\n";
    if (b + 1 < batch.inputs.shape(0)) table += "\n";
  }
  print_table(table);
}

// For each group of three runs, the index of the run with the lowest final loss.
template <class Run>
std::vector<std::size_t> lowest_of_three(const std::vector<Run>& runs) {
  std::vector<std::size_t> lowest(runs.size() / 3);
  for (std::size_t n = 0; n < runs.size(); ++n)
    if (runs[n].curve.back() < runs[n / 3 * 3 + lowest[n / 3]].curve.back()) lowest[n / 3] = n % 3;
  return lowest;
}

// The learning rate schedules that the lesson compares.
const Names shapes = {"constant", "rises", "falls", "rises and falls"};

// Prints the last loss of each run: a row for each schedule, with a column for each rate, tried
// with one seed, and one for the best rate with three seeds.
template <class Run>
void show_rates(const std::vector<double>& rates, const std::vector<std::size_t>& best,
                const std::vector<Run>& tried, const std::vector<Run>& more) {
  std::string table = pad_right("loss on the tuning part", 24);
  for (const double rate : rates) table += pad_right(decimal(rate, 3), 8);
  table += "best rate, 3 seeds\n";
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    table += pad_right(shapes[s], 24);
    for (std::size_t r = 0; r < rates.size(); ++r)
      table += pad_right(decimal(tried[rates.size() * s + r].curve.back(), 2), 8);
    std::vector<double> losses = {tried[rates.size() * s + best[s]].curve.back()};
    for (std::size_t n : {2 * s, 2 * s + 1}) losses.push_back(more[n].curve.back());
    table += decimal(estimate(losses).mean, 2) + " +- " +
             decimal(estimate(losses).standard_error, 2) + "\n";
  }
  quote(table);
}

// Plots the losses on the tuning part during training: each schedule with its best rate, one seed.
template <class Run>
void picture_of_rates(const std::vector<double>& rates, const std::vector<std::size_t>& best,
                      const std::vector<Run>& tried, std::int64_t steps) {
  std::vector<Series> curves;
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    const std::vector<double>& losses = tried[rates.size() * s + best[s]].curve;
    curves.push_back({shapes[s] + ", " + decimal(rates[best[s]], 3), {}, {}, /*points=*/true});
    for (std::size_t i = 0; i < losses.size(); ++i)
      curves.back().append(double(i + 1) * double(steps) / double(losses.size()), losses[i]);
  }
  picture("15_your_text", "rates", curves,
          {"learning rates", "step", "loss on the tuning part (nats per token)"});
}

// Prints the loss for each context length k, and that of the mean of the tables from k on. Returns
// the k of the lowest loss of either.
inline std::pair<std::size_t, std::size_t> show_contexts(const Tables& tables) {
  std::string table = "context k    loss of table k    loss of the mean of tables k to " +
                      std::to_string(tables.size() - 1) + "\n";
  std::vector<double> alone, means;
  for (std::size_t k = 0; k < tables.size(); ++k) {
    alone.push_back(loss_of(tables[k])), means.push_back(loss_of(mean_from(tables, k)));
    table += pad_left(std::to_string(k), 9) + pad_left(decimal(alone[k], 2), 19) +
             pad_left(decimal(means[k], 2), 22) + "\n";
  }
  print_table(table);
  const auto lowest = [](const std::vector<double>& losses) {
    return std::size_t(std::min_element(losses.begin(), losses.end()) - losses.begin());
  };
  return {lowest(alone), lowest(means)};
}

struct Losses {
  std::string name;
  std::vector<Array> p;  // the probability of each token of the test part, for each seed
};

// -ln p of each token, averaged over the seeds.
inline Array mean_losses(const std::vector<Array>& p) {
  Array losses = zeros(p[0].shape());
  for (const Array& each : p) losses -= xt::log(each) / Real(p.size());
  return losses;
}

// How much higher the loss of `a` is than that of `b`: the mean over the tokens of the test part.
// The standard error comes from the means of 32 consecutive tokens.
inline Estimate difference(const std::vector<Array>& a, const std::vector<Array>& b) {
  const Array means = xt::mean(mean_losses(a) - mean_losses(b), {1});
  return estimate({means.begin(), means.end()});
}

// Prints the mean loss of each model, with the standard error over its seeds, and its difference
// from that of the mean of the counts, which is the second model.
inline void show_losses(const std::vector<Losses>& models) {
  std::string table = pad_right("", 23) + "loss on the test part    minus the second row\n";
  for (const auto& [name, p] : models) {
    std::vector<double> seeds;
    for (const Array& each : p) seeds.push_back(-xt::mean<double>(xt::log(each))());
    table += pad_right(name, 23) +
             (p.size() == 1 ? decimal(seeds[0], 3)
                            : pad_right(mean_and_error(estimate(seeds)), 25) +
                                  mean_and_error(difference(p, models[1].p))) +
             "\n";
  }
  quote(table);
}

// Plots the probabilities p (V) of the twelve most likely tokens at each temperature.
inline void picture_of_temperatures(const Vocabulary& vocabulary,
                                    const std::vector<double>& temperatures,
                                    const std::vector<Array>& p) {
  std::vector<std::size_t> order(p[0].size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return p[0](a) > p[0](b); });
  Array bars = zeros({std::size_t(12), p.size() + 1});
  std::string tics, plots;
  for (std::size_t i = 0; i < 12; ++i) {
    tics += (i > 0 ? ", '" : "'") + printable(vocabulary.decode(std::int64_t(order[i]))) + "' " +
            std::to_string(i);
    bars(i, 0) = Real(i);
    for (std::size_t t = 0; t < p.size(); ++t) bars(i, t + 1) = p[t](order[i]);
  }
  const Names colors = {"#0072B2", "#999999", "#D55E00"};
  for (std::size_t t = 0; t < p.size(); ++t)
    plots += std::string(t == 0 ? "plot " : ", ") + "$bars using ($1 + " +
             decimal(0.27 * (double(t) - 1), 2) + "):" + std::to_string(t + 2) +
             " with boxes fs solid lc rgb '" + colors[t] + "' title 'temperature " +
             decimal(temperatures[t], 1) + "'";
  picture_by_gnuplot("15_your_text", "temperature",
                     gnuplot_block("bars", bars) + "set boxwidth 0.25\nset yrange [0:1]\n" +
                         "set xrange [-0.7:11.7]\nset xtics (" + tics +
                         ") scale 0 font 'monospace,16'\nunset grid\nset grid y\n" +
                         "set xlabel 'next token, the twelve most likely ones'\n" +
                         "set ylabel 'probability'\n" + plots);
}

// Draws nothing: in the book, sliders change the temperature, k, and the logits of the ten most
// likely tokens. logits (V).
inline void sliders_of_temperature(const Vocabulary& vocabulary, const Array& logits,
                                   SourceLocation location = SourceLocation::current()) {
  std::vector<std::pair<Real, std::size_t>> order;
  for (std::size_t id = 0; id < logits.size(); ++id) order.push_back({-logits(id), id});
  std::sort(order.begin(), order.end());
  Array largest = zeros({1, 10});
  Names names;
  for (std::size_t i = 0; i < 10; ++i) {
    largest(0, i) = -order[i].first;
    names.push_back(printable(vocabulary.decode(std::int64_t(order[i].second))));
  }
  sliders("temperature", names,
          {{"temperature", filled({1, 1}, 1)}, {"k", filled({1, 1}, 10)}, {"logits", largest}},
          location);
}

}  // namespace heed
