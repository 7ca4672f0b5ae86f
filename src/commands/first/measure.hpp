// measure.hpp: measures a training step for a Condition.
#pragma once

#include <string>
#include <vector>

#include "commands/first/condition.hpp"
#include "heed/train/trainer.hpp"

namespace heed::app {

// The reduction of all elements of the arrays.
double reduced(Measurement::Reduction reduction, const std::vector<Array>& arrays);

// The parameter of this name, or all if the name is "", and their gradients, zero where there is
// none.
std::vector<Tensor> selected(const Parameters& parameters, const std::string& name);
std::vector<Array> gradients_of(const std::vector<Tensor>& tensors);

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

}  // namespace heed::app
