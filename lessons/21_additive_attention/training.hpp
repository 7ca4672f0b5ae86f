// training.hpp: the settings that lesson 21 trains, and the sweep of their learning rates.
#pragma once

#include "measures.hpp"
#include "models_in_threads.hpp"

namespace heed {

constexpr std::size_t C = 48;  // the width of all states
inline const std::int64_t steps = in_brief(400, 150);
inline const std::size_t seeds = std::size_t(in_brief(5, 1)), few = std::size_t(in_brief(3, 1));

// With `none` the context vector is the same for all output characters: the last states.
enum class Score { none, additive, dot, scaled_dot };

// How a model is trained.
struct Setting {
  std::string name;
  Score score;
  double rate;  // the learning rate
  std::int64_t steps = heed::steps;
  double scale_of_U = 1;  // multiplies the initial U
  double rate_of_U = 1;   // multiplies the learning rate of U
};

inline const double small = 1 / std::sqrt(double(C));
inline const std::vector<Setting> settings = {
    {"fixed context vector", Score::none, 0.02},
    {"fixed, 1,600 steps", Score::none, 0.01, 4 * steps},
    {"additive", Score::additive, 0.02},
    {"dot product", Score::dot, 0.005},
    {"dot product, small U", Score::dot, 0.005, steps, small},
    {"dot product, slow U", Score::dot, 0.02, steps, 1, small},
    {"dot product / sqrt(C)", Score::scaled_dot, 0.02}};

// The losses of all settings with several learning rates, on other lines and seeds.
// train_all(settings, seeds, first seed) returns the models; loss(model, lines) is their loss.
template <class Train, class Loss>
std::vector<TuningRow> sweep(const Train& train_all, const Loss& loss) {
  const DateBatch lines = test_lines(true, 0, /*seed=*/2027);
  std::vector<TuningRow> rows;
  for (const Setting& setting : settings) {
    std::vector<double> rates = {0.005, 0.01, 0.02, 0.04};
    if (setting.score == Score::dot && setting.rate_of_U == 1)
      rates = {0.00125, 0.0025, 0.005, 0.01, 0.02};
    const auto of_setting = losses_of_rates(
        std::vector<Setting>{setting}, rates,
        [&](const std::vector<Setting>& changed) { return train_all(changed, 2, 11); },
        [&](const auto& trained) {
          const NoGrad no_grad;
          return loss(trained.model, lines).item();
        });
    rows.insert(rows.end(), of_setting.begin(), of_setting.end());
  }
  return rows;
}

}  // namespace heed
