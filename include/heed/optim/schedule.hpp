// schedule.hpp: the learning rate over time.
#pragma once

#include <cstdint>

namespace heed::optim {

// Rises in a line for `warmup` steps, falls along half a cosine to min_lr at `decay_steps`, and
// stays. The first step is 0: lr (step + 1) / (warmup + 1) while step < warmup (as nanoGPT).
struct WarmupCosine {
  double lr = 1e-3;
  double min_lr = 1e-4;
  std::int64_t warmup = 100;
  std::int64_t decay_steps = 2000;

  double at(std::int64_t step) const;
};

}  // namespace heed::optim
