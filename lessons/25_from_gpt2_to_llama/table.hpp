// table.hpp: the parameters, times and losses of the variants of lesson 25.
#pragma once

#include <algorithm>
#include <ctime>
#include <memory>

#include "estimate.hpp"
#include "variants.hpp"

namespace heed {

// By how much each change alters the number of parameters: (5).
inline Array parameter_changes_by_hand() {
  const Real norms = 2 * num_layers + 1, layers = num_layers, width = C;
  const Real gelu_biases = 4 * width + width, swiglu_biases = 2 * (8 * width / 3) + width;
  const Real kv = width * (width / 2) + width / 2;      // half of the keys' or values' layer
  const Real attention_biases = width + width + width;  // query and out C; key and value C / 2
  return Array{-norms * width,                          // RMSNorm has no bias
               -Real(window) * width,                   // no position embedding
               layers * (swiglu_biases - gelu_biases),  // as many weights, more biases
               -layers * 2 * kv,                        // narrower keys and values
               -layers * (attention_biases + swiglu_biases)};
}

inline Array parameter_changes(const std::vector<Variant>& variants) {
  std::vector<Real> counts;
  for (const Variant& v : variants) {
    Parameters parameters;
    Generator g(1);
    const nn::Gpt model({parameters, g}, v.config);
    counts.push_back(Real(parameters.count()));
  }
  Array changes = zeros({counts.size() - 1});
  for (std::size_t i = 0; i < changes.size(); ++i) changes(i) = counts[i + 1] - counts[i];
  return changes;
}

// The time of a step of each variant, divided by that of the first. The variants take turns, so
// that other programs slow all of them down. std::clock is the time of this program only.
inline std::vector<double> time_ratios(const Text& text, const std::vector<Variant>& variants,
                                       std::size_t rounds) {
  std::vector<std::unique_ptr<Run>> runs;
  for (const Variant& v : variants) runs.push_back(std::make_unique<Run>(text, v, 1, 1000));
  std::vector<std::vector<double>> times(runs.size());
  for (std::size_t round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::clock_t start = std::clock();
      runs[i]->step();
      times[i].push_back(double(std::clock() - start));
    }
  std::vector<double> ratios;
  for (std::vector<double>& t : times) {
    std::nth_element(t.begin(), t.begin() + std::ptrdiff_t(rounds / 2), t.end());
    ratios.push_back(t[rounds / 2] / times[0][rounds / 2]);
  }
  return ratios;
}

// The validation losses of several seeds, and the training loss of the first seed.
struct Losses {
  std::vector<double> of_seed;
  Series curve;
};

inline Losses train_seeds(const Text& text, const Variant& variant, std::int64_t steps,
                          std::uint64_t seeds) {
  Losses losses{{}, {variant.name, {}, {}}};
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Run run(text, variant, seed, steps);
    double sum = 0;
    while (run.steps < steps) {
      sum += run.step() / 20;
      if (run.steps % 20 != 0) continue;
      if (seed == 1) losses.curve.append(double(run.steps), sum);
      sum = 0;
    }
    losses.of_seed.push_back(next_token_loss(run.model, text.windows));
  }
  return losses;
}

// The smallest fall of the loss, over seeds, from one variant to another.
inline double least_fall(const Losses& from, const Losses& to) {
  double least = INFINITY;
  for (std::size_t i = 0; i < from.of_seed.size(); ++i)
    least = std::min(least, from.of_seed[i] - to.of_seed[i]);
  return least;
}

// "1.758 +- 0.009", or "1.758" for one seed.
inline std::string with_error(const std::vector<double>& x, int width) {
  const bool several = x.size() > 1;
  const Estimate e = several ? estimate(x) : Estimate{x[0], 0};
  return pad_left(decimal(e.mean, 3), width) +
         (several ? " +- " + decimal(e.standard_error, 3) : "");
}

// A row for each variant, and one for the last variant trained for as much time as the first.
inline std::string table_of_variants(const std::vector<Variant>& variants,
                                     const std::vector<Losses>& all,
                                     const std::vector<double>& ratios, std::int64_t steps,
                                     const Losses& longer, std::int64_t equal_time) {
  std::string rows = "                    parameters  time  steps  loss            change";
  const auto add = [&](const std::string& name, std::size_t i, std::int64_t n, const Losses& now,
                       const Losses* before) {
    rows += "\n" + pad_right(name, 20) +
            pad_left(grouped(double(nn::parameter_count(variants[i].config))), 10) +
            pad_left(decimal(ratios[i], 2), 6) + pad_left(std::to_string(n), 7) +
            with_error(now.of_seed, 7);
    std::vector<double> change;
    for (std::size_t s = 0; before != nullptr && s < now.of_seed.size(); ++s)
      change.push_back(now.of_seed[s] - before->of_seed[s]);
    if (before != nullptr) rows += with_error(change, 8);
  };
  for (std::size_t i = 0; i < variants.size(); ++i)
    add(variants[i].name, i, steps, all[i], i == 0 ? nullptr : &all[i - 1]);
  add("Llama, equal time", variants.size() - 1, equal_time, longer, &all.back());
  return rows;
}

}  // namespace heed
