// schedule.cpp: the learning rate over time.

#include "heed/optim/schedule.hpp"

#include <cmath>

namespace heed::optim {

double WarmupCosine::at(std::int64_t step) const {
  if (step < warmup) return lr * static_cast<double>(step + 1) / static_cast<double>(warmup + 1);
  if (step >= decay_steps) return min_lr;
  const double done =
      static_cast<double>(step - warmup) / static_cast<double>(decay_steps - warmup);
  const double pi = std::acos(-1.0);
  return min_lr + 0.5 * (1 + std::cos(pi * done)) * (lr - min_lr);
}

}  // namespace heed::optim
