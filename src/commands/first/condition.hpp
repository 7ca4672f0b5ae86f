// condition.hpp: Condition, a comparison of measurements of a training step, such as
// "norm(grad blocks.0.mlp.up.weight) > 10".
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "heed/base/error.hpp"
#include "heed/nn/gpt.hpp"

namespace heed::app {

// The grammar, with the names of parameters as `./heed inspect RUN` lists them:
//   condition    "not finite", or: sum, one of > >= < <=, sum
//   sum          products, added or subtracted
//   product      factors, multiplied or divided
//   factor       number, measurement, (sum) or -factor
//   measurement  train_loss, grad_norm, lr, median (of the last 20 train losses in loss.csv before
//                the step), REDUCTION(ARRAY), max(abs(ARRAY)), or entropy(attention LAYER.HEAD):
//                the mean entropy in nats of that head's attention weights in the batch of the step
//   REDUCTION    norm, max, min or mean
//   ARRAY        weights, grad, NAME, grad NAME or update NAME: all weights after the step, the
//                gradient before clipping, one parameter, its gradient, its change in the step

// A syntax error, or a name that the model does not have. `position` is the byte at which it is.
struct ConditionError : Error {
  ConditionError(const std::string& message, std::size_t at) : Error(message), position(at) {}
  std::size_t position;
};

// A quantity of a training step. `value` is set by the command that measures the step.
struct Measurement {
  enum class Kind { train_loss, grad_norm, lr, median, weights, gradient, update, entropy };
  enum class Reduction { none, norm, max, min, mean, max_abs };

  std::string text;  // the measurement as text, as in the condition
  Kind kind = Kind::train_loss;
  Reduction reduction = Reduction::none;
  std::string parameter = {};       // parameter name; "" means all
  std::size_t layer = 0, head = 0;  // the head of `entropy`
  std::size_t position = 0;         // byte of its name in the condition, for error messages
  double value = 0;
};

struct Expression;  // defined in condition.cpp

class Condition {
 public:
  // Parses the text. Throws ConditionError.
  explicit Condition(const std::string& text);
  Condition(Condition&&) noexcept;
  ~Condition();

  // Throws ConditionError if a measurement is of a parameter or head that the model does not have.
  void check(const Parameters& parameters, const nn::GptConfig& config) const;

  bool is_not_finite() const { return left_ == nullptr; }  // the condition "not finite"
  std::vector<Measurement>& measurements() { return measurements_; }
  // The values of the two sides, and whether the comparison holds, for the current measurements.
  double left() const;
  double right() const;
  bool holds() const;

 private:
  friend class ConditionParser;

  std::vector<Measurement> measurements_;
  std::unique_ptr<Expression> left_, right_;
  std::string comparison_;
};

}  // namespace heed::app
