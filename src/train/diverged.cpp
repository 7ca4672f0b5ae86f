// diverged.cpp: repeats a failed step to find its first value that is not finite.

#include "train/diverged.hpp"

#include <cmath>
#include <sstream>

#include "array/reduce.hpp"
#include "debug/labels.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/debug/nan_check.hpp"
#include "heed/optim/optimizer.hpp"

namespace HEED_NAMESPACE {
namespace {

// Stores the name of the first leaf to whose gradient a backward pass adds a term that is not
// finite.
struct NonfiniteLeaf : Observer {
  void add(const Node& from, std::size_t i, const Array& part) override {
    const Node& input = *from.inputs[i];
    if (input.depth == 0 && name.empty() && !std::isfinite(l2_norm(part))) name = input.name;
  }
  std::string name;
};

}  // namespace

std::string first_nonfinite_operation(const std::function<void()>& repeat) {
  NanCheck check;
  const ObserverScope scope(check);  // this thread's only: others may train other ranks
  try {
    repeat();
  } catch (const NonFinite& error) {
    return error.description;
  }
  return "";
}

std::string first_nonfinite_value(const Parameters& parameters) {
  for (const Tensor& parameter : parameters)
    if (!all_finite(parameter.value())) return "parameter " + parameter.name() + " is not finite";
  return "";
}

std::string first_nonfinite_parameter(const Parameters& parameters,
                                      const std::function<Tensor()>& recompute_loss) {
  if (const std::string text = first_nonfinite_value(parameters); !text.empty()) return text;
  optim::zero_grad(parameters.tensors());
  NonfiniteLeaf first;
  BackwardOptions options;
  options.observer = &first;
  backward(recompute_loss(), options);
  return first.name.empty() ? "" : "the first gradient that is not finite is that of " + first.name;
}

std::string cause_of(const std::string& value, const std::string& operation) {
  return (value.empty() ? "" : "; " + value) +
         (operation.empty() ? "" : "; first occurrence: " + operation);
}

// Repeats the step twice to find the first parameter, and then the first operation.
std::string cause_in_step(const Parameters& parameters,
                          const std::function<Tensor()>& recompute_loss) {
  const std::string parameter = first_nonfinite_parameter(parameters, recompute_loss);
  optim::zero_grad(parameters.tensors());
  return cause_of(parameter, first_nonfinite_operation([&] { backward(recompute_loss()); }));
}

std::string short_number(double value) {
  std::ostringstream text;
  text << (std::isnan(value) ? std::abs(value) : value);
  return text.str();
}

}  // namespace HEED_NAMESPACE
