// diverged.cpp: repeats a failed step to find its first value that is not finite.

#include "train/diverged.hpp"

#include <cmath>
#include <map>
#include <sstream>

#include "array/reduce.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/autograd/trace/trace.hpp"
#include "heed/base/error.hpp"
#include "heed/optim/optimizer.hpp"

namespace HEED_NAMESPACE {
namespace {

// Turns on the NaN check of all operations (HEED_TRACE=nan) until the guard is destroyed.
struct NanCheckGuard {
  NanCheckGuard() { set_trace("nan"); }
  ~NanCheckGuard() { set_trace(previous); }
  NanCheckGuard(const NanCheckGuard&) = delete;
  const std::string previous = trace_options();
};

// Returns the name of the first leaf that receives a nonfinite gradient in the backward pass.
std::string first_nonfinite_gradient(const Tensor& loss) {
  const NodeList nodes = topological_order(loss);
  BackwardOptions options;
  options.keep_graph = options.provenance = true;
  backward(loss, options);
  std::map<const Node*, std::size_t> num_parts;  // number of terms added to each leaf's gradient
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node)
    for (const auto& input : (*node)->inputs) {
      if (input == nullptr || !input->requires_grad || !input->inputs.empty()) continue;
      if (!std::isfinite(input->contributions[num_parts[input.get()]++].norm)) return input->name;
    }
  return "";
}

}  // namespace

std::string first_nonfinite_operation(const std::function<void()>& repeat) {
  const NanCheckGuard guard;
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
  const std::string name = first_nonfinite_gradient(recompute_loss());
  return name.empty() ? "" : "the first gradient that is not finite is that of " + name;
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
