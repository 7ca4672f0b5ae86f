// batch_gradient.hpp: BatchGradient, which divides the gradient of a training step among the
// windows and tokens of its batch, and among the operations that use a parameter.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "commands/replay/replayed_run.hpp"

namespace heed::app {

// The elements of the gradient that are divided: all, those of one parameter, or one element.
struct GradientElements {
  std::string parameter = {};             // "" means all parameters
  std::optional<std::size_t> index = {};  // of the element in row-major order
  std::string text = {};                  // such as "head.weight[3,5]", for output

  std::vector<Array> of(const Array& array) const;      // the elements of one parameter's array
  std::vector<Array> of(const Trainer& trainer) const;  // the elements of the current gradients
};

// A part of the gradient: of a part of the loss, or what an operation passed to the parameter.
struct GradientPart {
  std::string text = {};            // a window's text, a token, or an operation and its source line
  std::size_t row = 0;              // the window's row in the batch
  std::optional<double> loss = {};  // mean loss over the tokens of the part
  double norm = 0;                  // norm of the part of the gradient
  double share = 0;                 // projection on the batch's gradient; all shares add up to 1
};

struct GradientParts {
  std::string whole;                // what is divided: "the batch's gradient"
  std::vector<GradientPart> parts;  // sorted by norm, the largest first
  // The largest difference of the sum of the parts from the whole, over the largest element of the
  // whole.
  double difference = 0;
};

// The gradient of the mean loss of a batch.
class BatchGradient {
 public:
  // Call it in the gradient hook of the run. All functions use up the gradients of the step.
  // `dropout` is the state of the generator of the dropout masks before the step.
  BatchGradient(const ReplayedRun& run, const Batch& batch, const GradientElements& elements,
                const std::string& dropout);

  double first() const { return static_cast<double>(total_[0].data()[0]); }  // the first element
  GradientParts windows() const;
  GradientParts tokens(std::size_t row) const;  // of the tokens that a window predicts
  GradientParts operations() const;             // of those that use the parameter of the elements

 private:
  Tensor loss_of(const Batch& batch) const;
  Batch window(std::size_t row) const;
  // The elements of the gradient of a batch's loss, divided by `divisor`.
  std::vector<Array> gradient_of(const Batch& batch, double divisor, GradientPart& part) const;

  const ReplayedRun& run_;
  const Batch& batch_;
  GradientElements elements_;
  std::string dropout_;
  std::size_t num_windows_, num_tokens_;  // of the batch, and of a window
  std::vector<Array> total_;
};

// Computes a step of the run again, and calls `show` with its gradient. Prints why it does not, if
// the run has dropout and several shards.
void show_gradient(ReplayedRun& run, std::int64_t step, const GradientElements& elements,
                   const std::function<void(const BatchGradient&)>& show);

// Prints the largest parts as a table. `kind` is such as "windows of the batch", and `gradient`
// what their norm is of, such as "their gradient".
void print_parts(const GradientParts& parts, const std::string& kind, const std::string& gradient);

}  // namespace heed::app
