// models_in_threads.hpp: trains models of several settings and seeds at the same time.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "estimate.hpp"
#include "in_threads.hpp"
#include "tuning.hpp"

namespace heed {

// The results of train(setting, i) for each setting and for i from 0 to seeds[setting] - 1, each
// computed in a thread of its own.
template <class Result, class Train>
std::vector<std::vector<Result>> models_in_threads(const std::vector<std::size_t>& seeds,
                                                   const Train& train) {
  std::vector<std::pair<std::size_t, std::size_t>> jobs;
  for (std::size_t setting = 0; setting < seeds.size(); ++setting)
    for (std::size_t i = 0; i < seeds[setting]; ++i) jobs.push_back({setting, i});
  const std::vector<Result> results = in_threads<Result>(jobs.size(), [&](std::uint64_t number) {
    return train(jobs[number - 1].first, jobs[number - 1].second);
  });
  std::vector<std::vector<Result>> all(seeds.size());
  for (std::size_t job = 0; job < jobs.size(); ++job) all[jobs[job].first].push_back(results[job]);
  return all;
}

// The losses of each setting with each learning rate: train(settings) returns the models of each
// setting, and loss(model) is measured on data that the lesson reports nothing about.
template <class Setting, class Train, class Loss>
std::vector<TuningRow> losses_of_rates(std::vector<Setting> settings,
                                       const std::vector<double>& rates, const Train& train,
                                       const Loss& loss) {
  std::vector<TuningRow> rows;
  for (const double rate : rates) {
    for (Setting& setting : settings) setting.rate = rate;
    const auto models = train(settings);
    for (std::size_t i = 0; i < settings.size(); ++i) {
      std::vector<double> losses;
      for (const auto& model : models[i]) losses.push_back(loss(model));
      const Estimate e = estimate(losses);
      rows.push_back({settings[i].name, rate, e.mean, e.standard_error});
    }
  }
  return rows;
}

}  // namespace heed
