// schedule.hpp: learning rate schedules: linear warmup with cosine decay, and PyTorch's schedules.
#pragma once

#include <cstdint>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE::optim {

// The schedule of nanoGPT: linear warmup, lr (step + 1) / (warmup + 1) while step < warmup, then
// cosine decay to min_lr at step decay_steps, then min_lr. The first step is number 0. at() throws
// Error for a negative option.
struct WarmupCosine {
  double lr = 1e-3;                 // maximum learning rate
  double min_lr = 1e-4;             // learning rate from step decay_steps on
  std::int64_t warmup = 100;        // number of warmup steps
  std::int64_t decay_steps = 2000;  // the step at which the decay ends

  double at(std::int64_t step) const;  // the learning rate of a step
};

// The schedules below have the names and options of torch.optim.lr_scheduler. `lr` is the initial
// learning rate; the first step is number 0. T_max, step_size and ExponentialLR's gamma must be
// set, as in PyTorch: their default 0 is out of range. at() throws Error for options out of range.

// A cosine that falls from lr to eta_min in T_max steps, rises to lr in T_max steps, and repeats:
//   eta_min + (lr - eta_min) (1 + cos(pi step / T_max)) / 2
// Loshchilov and Hutter 2017, "SGDR", eq. 5, without restarts.
struct CosineAnnealingLR {
  double lr = 1e-3;        // maximum learning rate
  std::int64_t T_max = 0;  // half a period, in steps; at least 1
  double eta_min = 0;      // minimum learning rate

  double at(std::int64_t step) const;  // the learning rate of a step
};

// The rate changes linearly from lr * start_factor to lr * end_factor in total_iters steps, then
// stays constant. start_factor and end_factor must be in [0, 1].
//   lr (start_factor + (end_factor - start_factor) min(step / total_iters, 1))
struct LinearLR {
  double lr = 1e-3;               // learning rate if the factor is 1
  double start_factor = 1.0 / 3;  // factor of lr at step 0
  double end_factor = 1;          // factor of lr from step total_iters on
  std::int64_t total_iters = 5;   // number of steps from start_factor to end_factor

  double at(std::int64_t step) const;  // the learning rate of a step
};

// Multiplies the learning rate by gamma every step_size steps: lr * gamma^floor(step / step_size).
struct StepLR {
  double lr = 1e-3;            // initial learning rate
  std::int64_t step_size = 0;  // number of steps between two changes of the rate; at least 1
  double gamma = 0.1;          // factor by which each change multiplies the learning rate

  double at(std::int64_t step) const;  // the learning rate of a step
};

// Multiplies the learning rate by gamma in every step: lr * gamma^step.
struct ExponentialLR {
  double lr = 1e-3;  // initial learning rate
  double gamma = 0;  // factor by which each step multiplies the learning rate

  double at(std::int64_t step) const;  // the learning rate of a step
};

}  // namespace HEED_NAMESPACE::optim
