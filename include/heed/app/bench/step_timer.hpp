// step_timer.hpp: StepTimer, which times training steps, and the FLOP count of a step.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/train/trainer.hpp"

namespace heed {

// The quantile of the values at `fraction`, 0 to 1, with linear interpolation, as numpy.quantile
// (type 7 of Hyndman and Fan 1996). Throws Error when there are no values.
double percentile(std::vector<double> values, double fraction);

struct Percentiles {
  double median = 0, p10 = 0, p90 = 0;
};
Percentiles percentiles_of(const std::vector<double>& values);

// The model to train, its batch size and the number of threads.
struct Workload {
  nn::GptConfig model;
  std::size_t batch_size = 12;
  int threads = 1;

  std::size_t tokens() const { return batch_size * model.block_size; }  // per step
};

// Multiplications and additions in the matrix products of a training step.
//
// A matrix of n weights costs 2n per token forward (multiply, add) and 4n backward: the gradients
// of its input and of the weights. That is 6n, for the 12 C^2 weights of each of L blocks and the V
// C of the output layer; embedding lookups multiply nothing. Causal attention has T (T + 1) / 2
// pairs of a query and a key per window. Over all heads, each pair costs 2 C forward for its score
// and 2 C for the weighted sum of values; backward has 4 such products (the gradients of queries,
// keys, values and attention weights). Not counted: scores recomputed for backward, masked pairs,
// and everything but products.
//
//   6 B T (12 L C^2 + V C) + 12 L C B T (T + 1) / 2
double flop_per_step(const nn::GptConfig& model, std::size_t batch_size);

// GFLOP/s of the fastest of several matrix products (256 to 1024 rows) on the calling thread: the
// peak that BLAS reaches on this machine at this moment. Takes about 0.1 s.
double peak_sgemm_gflops();

struct OperationMs {
  std::string name;
  double forward, backward;  // milliseconds per step
};

// Trains a model and times each step. The corpus must outlive it.
class StepTimer {
 public:
  StepTimer(const Corpus& corpus, const Workload& workload);

  void warm_up(std::int64_t steps);
  // Times this many more steps; 0: as many as fit into the seconds, at least three.
  void measure(std::int64_t steps, double seconds = 0.4);

  const Workload& workload() const { return workload_; }
  Percentiles ms() const { return percentiles_of(ms_); }  // per step, over all measured steps

  // Runs this many more steps and returns the time of each operation, the longest first. These
  // steps do not count in ms(), because timing operations slows them down. Clears the times that
  // HEED_TRACE=time collects, and turns the trace off.
  std::vector<OperationMs> operations(std::int64_t steps);

  // Tokens generated per second, over this many tokens, after a short warm-up.
  double generation_rate(std::size_t tokens) const;

 private:
  Workload workload_;
  std::unique_ptr<Trainer> trainer_;
  std::vector<double> ms_;
};

}  // namespace heed
