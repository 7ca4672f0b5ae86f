// first_nonfinite.cpp: does a step that failed once more, slowly, to see where it began to fail.

#include "train/first_nonfinite.hpp"

#include <cmath>
#include <map>

#include "heed/array/reduce.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/autograd/trace/trace.hpp"
#include "heed/base/error.hpp"
#include "heed/optim/optimizer.hpp"

namespace heed {
namespace {

class OnlyNan {
 public:
  OnlyNan() : before_(trace_options()) { set_trace("nan"); }
  ~OnlyNan() { set_trace(before_); }
  OnlyNan(const OnlyNan&) = delete;
  OnlyNan& operator=(const OnlyNan&) = delete;

 private:
  std::string before_;
};

// In the order in which backward comes by: the first part of a leaf's gradient that is not finite.
std::string first_nonfinite_gradient(const Tensor& loss) {
  const std::vector<std::shared_ptr<Node>> nodes = topological_order(loss);
  BackwardOptions options;
  options.keep_graph = options.provenance = true;
  backward(loss, options);
  std::map<const Node*, std::size_t> seen;  // parts of each leaf's gradient
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node)
    for (const auto& input : (*node)->inputs) {
      if (input == nullptr || !input->requires_grad || !input->inputs.empty()) continue;
      if (!std::isfinite(input->contributions[seen[input.get()]++].norm)) return input->name;
    }
  return "";
}

}  // namespace

std::string first_nonfinite_operation(const std::function<void()>& again) {
  const OnlyNan watch;
  try {
    again();
  } catch (const Error& error) {
    const std::string text = error.what();
    return text.substr(text.find(": ") + 2);  // without "HEED_TRACE=nan"
  }
  return "";
}

std::string first_nonfinite_value(const Parameters& parameters) {
  for (const Tensor& parameter : parameters)
    if (!all_finite(parameter.value())) return "parameter " + parameter.name() + " is not finite";
  return "";
}

std::string first_nonfinite_parameter(const Parameters& parameters,
                                      const std::function<Tensor()>& again) {
  if (const std::string bad = first_nonfinite_value(parameters); !bad.empty()) return bad;
  optim::zero_grad(parameters.tensors());
  const std::string name = first_nonfinite_gradient(again());
  return name.empty() ? "" : "the first gradient to go wrong is that of " + name;
}

}  // namespace heed
