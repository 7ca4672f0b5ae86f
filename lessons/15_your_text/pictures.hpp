// pictures.hpp: the tables and the pictures of lesson 15.
#pragma once

#include <algorithm>
#include <numeric>

#include "estimate.hpp"
#include "gnuplot_picture.hpp"
#include "heed/base/utf8.hpp"
#include "heed/text/corpus.hpp"

namespace heed {

inline void print_table(const std::string& table) {
  print_text("\n" + table, true, SourceLocation::current());
}

inline std::string mean_and_error(const Estimate& e) {
  return trained(e.mean) + " +- " + trained(e.standard_error, 3);
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

// Prints the last loss of each run. Returns the index of the lowest.
template <class Run>
std::size_t show_rates(const std::vector<double>& rates, const std::vector<Run>& runs) {
  std::string table = "learning rate    loss on the tuning part\n";
  std::size_t best = 0;
  for (std::size_t r = 0; r < rates.size(); ++r) {
    table += pad_left(decimal(rates[r], 3), 13) + "    " + trained(runs[r].curve.back()) + "\n";
    if (runs[r].curve.back() < runs[best].curve.back()) best = r;
  }
  print_table(table);
  return best;
}

// Prints the last losses of the seeds with a constant learning rate and with the schedule.
template <class Run>
void show_schedules(const std::vector<Run>& constant, const std::vector<Run>& schedule) {
  std::string table = "learning rate         loss on the tuning part, 3 seeds\n";
  for (const auto& [name, runs] :
       {std::pair("constant", constant), {"rising and falling", schedule}}) {
    std::vector<double> losses;
    for (const Run& run : runs) losses.push_back(run.curve.back());
    table += pad_right(name, 22) + mean_and_error(estimate(losses)) + "\n";
  }
  print_table(table);
}

// Draws the losses on the tuning part during training, of one seed each. `rate` is the constant
// one.
template <class Run>
void picture_of_rates(const std::vector<double>& rates, const std::vector<Run>& tried,
                      const Run& constant, double rate, std::int64_t steps) {
  std::vector<Series> curves;
  const auto add = [&](const std::string& name, const Run& run) {
    curves.push_back({name, {}, {}, /*points=*/true});
    for (std::size_t i = 0; i < run.curve.size(); ++i)
      curves.back().append(double(i + 1) * double(steps) / double(run.curve.size()), run.curve[i]);
  };
  for (std::size_t r = 0; r < rates.size(); ++r) add("up to " + decimal(rates[r], 3), tried[r]);
  add("constant " + decimal(rate, 3), constant);
  picture("15_your_text", "rates", curves,
          {"learning rates", "step", "loss on the tuning part (nats per token)"});
}

// Prints the loss for each number of tokens of context. Returns the best.
inline std::size_t show_contexts(const std::vector<double>& losses) {
  std::string table = "context k    loss on the tuning part\n";
  for (std::size_t k = 0; k < losses.size(); ++k)
    table += pad_left(std::to_string(k), 9) + "    " + decimal(losses[k], 2) + "\n";
  print_table(table);
  return std::size_t(std::min_element(losses.begin(), losses.end()) - losses.begin());
}

struct Losses {
  std::string name;
  std::vector<Array> p;  // the probability of each token of the test part, for each seed
};

// The mean over the seeds of -ln p at each token.
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
// from the first model's.
inline void show_losses(const std::vector<Losses>& models) {
  std::string table = "                loss on the test part    minus that of the counts\n";
  for (const auto& [name, p] : models) {
    std::vector<double> seeds;
    for (const Array& each : p) seeds.push_back(-xt::mean<double>(xt::log(each))());
    table += pad_right(name, 16) +
             (p.size() == 1 ? decimal(seeds[0], 2)
                            : pad_right(mean_and_error(estimate(seeds)), 25) +
                                  mean_and_error(difference(p, models[0].p))) +
             "\n";
  }
  print_table(table);
}

// Draws the probabilities p (V) of the twelve most likely tokens at each temperature.
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

}  // namespace heed
