// trainer_diverged.cpp: the error of a training step whose loss, gradients or weights are not
// finite.

#include <cmath>
#include <functional>
#include <sstream>

#include "heed/autograd/backward.hpp"
#include "heed/train/trainer.hpp"
#include "train/first_nonfinite.hpp"

namespace HEED_NAMESPACE {
namespace {

// Formats a value with six significant digits, and NaN without its meaningless sign.
std::string short_number(double value) {
  std::ostringstream text;
  text << (std::isnan(value) ? std::abs(value) : value);
  return text.str();
}

std::string clause(const std::string& before, const std::string& text) {
  return text.empty() ? "" : before + text;
}

}  // namespace

std::string Trainer::step_description(std::int64_t step) const {
  return " step " + std::to_string(step) + ", at learning rate " + short_number(last_lr_) +
         " and gradient norm " + short_number(last_norm_);
}

// Repeats the failed step twice to find the first parameter, and then the first operation, with a
// value that is not finite. Each process searches in its own shards.
void Trainer::throw_diverged(double loss, const std::function<Batch()>& same_batch) {
  std::string parameter, operation;
  const std::size_t first = communicator_->rank() * num_own_shards();
  for (std::size_t j = 0; j < num_own_shards() && parameter.empty() && operation.empty(); ++j) {
    const auto recompute = [&] { return shard_loss(same_batch(), first + j); };
    optim::zero_grad(parameters_.tensors());
    parameter = first_nonfinite_parameter(parameters_, recompute);
    optim::zero_grad(parameters_.tensors());
    operation = first_nonfinite_operation([&] { backward(recompute()); });
  }
  throw Diverged("the loss is " + short_number(loss) + " in" + step_description(step_ + 1) +
                 first_text(clause("; ", parameter) + clause("; first occurrence: ", operation)));
}

// The text of the first rank whose text is not empty, so that all ranks throw the same error.
std::string Trainer::first_text(const std::string& text) const {
  for (const std::string& each : gather_texts(*communicator_, text))
    if (!each.empty()) return each;
  return "";
}

// Throws Diverged if the validation loss is not finite, as after an overflow in the last update.
double Trainer::checked_validation_loss() const {
  const double loss = validation_loss();
  if (!std::isfinite(loss))
    throw Diverged("the validation loss is " + short_number(loss) + " after" +
                   step_description(step_) +
                   first_text(clause("; ", first_nonfinite_value(parameters_)) +
                              clause("; first occurrence: ",
                                     first_nonfinite_operation([&] { own_validation_losses(); }))));
  return loss;
}

}  // namespace HEED_NAMESPACE
