// step_timer.hpp: how fast this machine trains: steps, matrix products and operations, timed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/train/trainer.hpp"

namespace heed {

// The value below which this share of the values lies, 0 to 1; between two values in proportion
// (type 7 of Hyndman and Fan 1996). Throws Error when there are none.
double percentile(std::vector<double> values, double share);

struct Percentiles {
  double median = 0, p10 = 0, p90 = 0;
};
Percentiles percentiles_of(const std::vector<double>& values);

// What is trained, and on how many threads.
struct Workload {
  nn::GptConfig model;
  std::size_t batch_size = 12;
  int threads = 1;

  std::size_t symbols() const { return batch_size * model.block_size; }  // in a step
};

// Multiplications and additions that the products of a training step cannot do without.
//
// A matrix of n values costs 2n for each symbol forward (multiply, add), and twice that backward:
// the gradient of its input and its own. So 6n, for the 12 C^2 values of each of L blocks and the
// V C of the head; looking up an embedding multiplies nothing. Causal attention has T (T + 1) / 2
// pairs of symbols in a window, and for each pair 2 C forward for the scores and 2 C for the mix,
// all heads together; backward 4 such products (of the gradients of queries, keys, values and
// weights). Scores that are computed again for backward are not counted, nor masked pairs, nor
// anything that is no product.
//
//   6 B T (12 L C^2 + V C) + 12 L C B T (T + 1) / 2
double step_operations(const nn::GptConfig& model, std::size_t batch_size);

// Billions of multiplications and additions a second in the best of some large and some middling
// matrix products, on the calling thread: what BLAS can do here at this moment. About 0.1 s.
double best_product_gflops();

struct OperationMs {
  std::string name;
  double forward, backward;  // milliseconds a step
};

// A model in training whose steps are timed one by one. The corpus must outlive it.
class StepTimer {
 public:
  StepTimer(const Corpus& corpus, const Workload& workload);

  void warm_up(std::int64_t steps);
  // Times so many steps more; for 0 as many as fit into the seconds, at least three.
  void measure(std::int64_t steps, double seconds = 0.4);

  const Workload& workload() const { return workload_; }
  Percentiles ms() const { return percentiles_of(ms_); }  // of a step, over all that were measured

  // Where the time of so many steps more goes, the longest first. They are not among ms(), since
  // watching takes time. Uses HEED_TRACE's counters, and leaves them cleared and off.
  std::vector<OperationMs> operations(std::int64_t steps);

  // Symbols a second that the model writes, in a text of so many, after a first one as warm-up.
  double generation_rate(std::size_t symbols) const;

 private:
  Workload workload_;
  std::unique_ptr<Trainer> trainer_;
  std::vector<double> ms_;
};

}  // namespace heed
