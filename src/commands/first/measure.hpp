// measure.hpp: measures a training step for a Condition, and the windows of its batch.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "commands/first/condition.hpp"
#include "heed/train/trainer.hpp"

namespace heed::app {

// Measures the steps of a trainer.
class StepMeasures {
 public:
  // The condition and the trainer must outlive this object; call begin() for another trainer.
  explicit StepMeasures(Condition& condition) : condition_(condition) {}

  void begin(const Trainer& trainer) { trainer_ = &trainer; }
  // Measures losses, gradients and attention. Call it in the gradient hook of the trainer.
  void measure_gradients(const Batch& batch, double loss);
  // Measures the weights and their updates. Call it after the step.
  void measure_weights();

 private:
  Condition& condition_;
  const Trainer* trainer_ = nullptr;
  std::vector<Array> before_;  // the weights before the step, if an update is measured
};

// A window of a batch, and the gradient of its share of the batch's loss, 1 / B of its own.
struct WindowGradient {
  std::size_t row;  // row of the batch
  double loss;      // mean loss over the window's tokens
  double norm;      // norm of the gradient
  double share;     // its gradient's projection on the batch's gradient; all shares add up to 1
};

struct WindowGradients {
  std::vector<WindowGradient> windows;  // sorted by norm, the largest first
  double difference;  // of the sum from the batch's gradient: the largest, over its largest element
};

// The gradients of the windows with respect to the parameter, or to all if its name is "". Call it
// in the gradient hook of a run without dropout: its gradients are used up.
WindowGradients window_gradients(const Trainer& trainer, const Batch& batch,
                                 const std::string& parameter);

}  // namespace heed::app
