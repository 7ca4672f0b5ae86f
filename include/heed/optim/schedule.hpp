// schedule.hpp: learning rate schedules: linear warmup with cosine decay, and PyTorch's schedules.
#pragma once

#include <cstdint>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE::optim {

// The schedule of nanoGPT: linear warmup, lr (step + 1) / (warmup + 1) while step < warmup, then
// cosine decay to min_lr at step decay_steps, then constant. The first step is number 0.
struct WarmupCosine {
  double lr = 1e-3;
  double min_lr = 1e-4;
  std::int64_t warmup = 100;
  std::int64_t decay_steps = 2000;

  double at(std::int64_t step) const;
};

// The schedules below have the names and options of torch.optim.lr_scheduler. `lr` is the initial
// learning rate; the first step is number 0. T_max, step_size and ExponentialLR's gamma must be
// set, as in PyTorch: their default 0 is out of range. at() throws Error for options out of range.

// A cosine that falls from lr to eta_min in T_max steps, rises to lr in T_max steps, and repeats:
//   eta_min + (lr - eta_min) (1 + cos(pi step / T_max)) / 2
// Loshchilov and Hutter 2017, "SGDR", eq. 5, without restarts.
struct CosineAnnealingLR {
  double lr = 1e-3;
  std::int64_t T_max = 0;
  double eta_min = 0;

  double at(std::int64_t step) const;
};

// Linear from lr * start_factor to lr * end_factor in total_iters steps, then constant:
//   lr (start_factor + (end_factor - start_factor) min(step / total_iters, 1)),  factors in [0, 1]
struct LinearLR {
  double lr = 1e-3;
  double start_factor = 1.0 / 3;
  double end_factor = 1;
  std::int64_t total_iters = 5;

  double at(std::int64_t step) const;
};

// Multiplies the learning rate by gamma every step_size steps:  lr gamma^floor(step / step_size)
struct StepLR {
  double lr = 1e-3;
  std::int64_t step_size = 0;
  double gamma = 0.1;

  double at(std::int64_t step) const;
};

// Multiplies the learning rate by gamma in every step:  lr gamma^step
struct ExponentialLR {
  double lr = 1e-3;
  double gamma = 0;

  double at(std::int64_t step) const;
};

}  // namespace HEED_NAMESPACE::optim
