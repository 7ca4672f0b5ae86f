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

// PyTorch's schedules, with the names and options of torch.optim.lr_scheduler. `lr` is what the
// optimizer there was made with; steps count from 0. An option that is 0 here has no default in
// PyTorch and must be given. at() throws Error for an option out of its range.

// Down half a cosine from lr to eta_min in T_max steps, up again in as many, and so on:
//   eta_min + (lr - eta_min) (1 + cos(pi step / T_max)) / 2
// Loshchilov and Hutter 2017, "SGDR", eq. 5, without the restarts.
struct CosineAnnealingLR {
  double lr = 1e-3;
  std::int64_t T_max = 0;
  double eta_min = 0;

  double at(std::int64_t step) const;
};

// In a line from lr start_factor to lr end_factor in total_iters steps, and stays; both factors
// from 0 to 1:  lr (start_factor + (end_factor - start_factor) min(step / total_iters, 1))
struct LinearLR {
  double lr = 1e-3;
  double start_factor = 1.0 / 3;
  double end_factor = 1;
  std::int64_t total_iters = 5;

  double at(std::int64_t step) const;
};

// Down a stair every step_size steps:  lr gamma^floor(step / step_size)
struct StepLR {
  double lr = 1e-3;
  std::int64_t step_size = 0;
  double gamma = 0.1;

  double at(std::int64_t step) const;
};

// The same share less in every step:  lr gamma^step
struct ExponentialLR {
  double lr = 1e-3;
  double gamma = 0;

  double at(std::int64_t step) const;
};

}  // namespace heed::optim
