// schedule.cpp: learning rate schedules.

#include "heed/optim/schedule.hpp"

#include <algorithm>
#include <cmath>

#include "optim/state.hpp"

namespace HEED_NAMESPACE::optim {

// Returns (1 + cos(pi x)) / 2, which is 1 at x = 0, 0 at x = 1 and 1 at x = 2.
static double cosine_factor(double x) { return 0.5 * (1 + std::cos(std::acos(-1.0) * x)); }

double WarmupCosine::at(std::int64_t step) const {
  check_option("WarmupCosine", "lr", lr, lr >= 0, "0 or more");
  check_option("WarmupCosine", "min_lr", min_lr, min_lr >= 0, "0 or more");
  check_option("WarmupCosine", "warmup", warmup, warmup >= 0, "0 or more");
  check_option("WarmupCosine", "decay_steps", decay_steps, decay_steps >= 0, "0 or more");
  if (step < warmup) {
    const double steps = static_cast<double>(step) + 1, all = static_cast<double>(warmup) + 1;
    const double rate = lr * steps / all;
    return std::isfinite(rate) ? rate : lr * (steps / all);  // lr * steps can overflow
  }
  if (step >= decay_steps) return min_lr;
  const double progress =
      static_cast<double>(step - warmup) / static_cast<double>(decay_steps - warmup);
  return min_lr + cosine_factor(progress) * (lr - min_lr);
}

double CosineAnnealingLR::at(std::int64_t step) const {
  check_option("CosineAnnealingLR", "lr", lr, lr >= 0, "0 or more");
  check_option("CosineAnnealingLR", "T_max", T_max, T_max > 0, "1 or more");
  check_option("CosineAnnealingLR", "eta_min", eta_min, eta_min >= 0, "0 or more");
  const double progress = static_cast<double>(step) / static_cast<double>(T_max);
  return eta_min + cosine_factor(progress) * (lr - eta_min);
}

double LinearLR::at(std::int64_t step) const {
  const auto is_valid = [](double x) { return x >= 0 && x <= 1; };
  check_option("LinearLR", "lr", lr, lr >= 0, "0 or more");
  check_option("LinearLR", "start_factor", start_factor, is_valid(start_factor), "in [0, 1]");
  check_option("LinearLR", "end_factor", end_factor, is_valid(end_factor), "in [0, 1]");
  check_option("LinearLR", "total_iters", total_iters, total_iters > 0, "1 or more");
  const double progress = static_cast<double>(step) / static_cast<double>(total_iters);
  return lr * (start_factor + (end_factor - start_factor) * std::min(progress, 1.0));
}

double StepLR::at(std::int64_t step) const {
  check_option("StepLR", "lr", lr, lr >= 0, "0 or more");
  check_option("StepLR", "step_size", step_size, step_size > 0, "1 or more");
  check_option("StepLR", "gamma", gamma, gamma > 0, "above 0");
  return lr * std::pow(gamma, static_cast<double>(step / step_size));
}

double ExponentialLR::at(std::int64_t step) const {
  check_option("ExponentialLR", "lr", lr, lr >= 0, "0 or more");
  check_option("ExponentialLR", "gamma", gamma, gamma > 0, "above 0");
  return lr * std::pow(gamma, static_cast<double>(step));
}

}  // namespace HEED_NAMESPACE::optim
