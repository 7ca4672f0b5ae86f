// optimizer.cpp: checks of an optimizer's parameters, zero_grad, and conversion between an
// optimizer's arrays and its State.

#include "heed/optim/optimizer.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "heed/base/text.hpp"
#include "optim/state.hpp"

namespace HEED_NAMESPACE::optim {

Optimizer::Optimizer(const char* name, std::vector<Tensor> parameters, SourceLocation location)
    : parameters_(std::move(parameters)) {
  const CallSite site(location);
  if (parameters_.empty()) throw_error(name, ": the list of parameters is empty");
  std::set<const Node*> nodes;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor& parameter = parameters_[i];
    const auto fail = [&](const std::string& why) {
      throw_error(name, ": parameter ", i, ", ", describe(parameter, "x"), ", ", why);
    };
    if (!parameter.defined()) fail("is undefined");
    if (parameter.node()->depth > 0)
      fail("is the result of " + std::string(parameter.op()) + " made at " +
           str(parameter.location()) + "; give the tensors that it depends on");
    if (!nodes.insert(parameter.node().get()).second) fail("occurs twice");
  }
}

void Optimizer::zero_grad() { optim::zero_grad(parameters_); }

void zero_grad(const std::vector<Tensor>& parameters, SourceLocation location) {
  for (const Tensor& parameter : parameters) parameter.clear_grad(location);
}

void check_shapes(const Tensor& parameter, const Array& state) {
  if (parameter.grad().shape() != parameter.shape())
    throw_error("step: ", describe(parameter, "a parameter"), " has a gradient of shape ",
                str(parameter.grad().shape()), "; they must be equal");
  if (is_defined(state) && state.shape() != parameter.shape())
    throw_error("step: the optimizer's state of ", describe(parameter, "a parameter"),
                " has the shape ", str(state.shape()), "; make a new optimizer");
}

// Throws Error if two parameters have one name, by which a state finds their arrays.
static void check_names(const std::vector<Tensor>& parameters) {
  std::set<std::string> names;
  for (const Tensor& parameter : parameters)
    if (!names.insert(parameter.name()).second && !parameter.name().empty())
      throw_error("optimizer state: two parameters have the name ", in_quotes(parameter.name()),
                  "; give each its own");
}

void append_arrays(State& state, const std::vector<Tensor>& parameters,
                   const std::vector<Array>& arrays, const std::string& kind) {
  check_names(parameters);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name().empty())
      throw_error("optimizer state: ", describe(parameters[i], "a parameter"),
                  " has no name; name every parameter whose state is saved");
    if (is_defined(arrays[i]))
      state.arrays.emplace_back(parameters[i].name() + "." + kind, arrays[i]);
  }
}

using ArrayIndex = std::unordered_map<std::string, const Array*>;

static Array find_array(const ArrayIndex& arrays, const Tensor& parameter, const std::string& name,
                        bool required) {
  const auto found = arrays.find(name);
  if (found == arrays.end()) {
    if (required) throw_error("optimizer state: no '", name, "'");
    return undefined_array();
  }
  if (found->second->shape() != parameter.shape())
    throw_error("optimizer state: '", name, "' has shape ", str(found->second->shape()),
                ", but its parameter has ", str(parameter.shape()));
  return *found->second;
}

std::vector<std::vector<Array>> find_arrays(const State& state,
                                            const std::vector<Tensor>& parameters,
                                            const std::vector<std::string>& kinds, bool required) {
  check_names(parameters);
  constexpr std::int64_t most_steps = std::int64_t{1} << 53;
  if (state.step < 0 || state.step > most_steps)
    throw_error("optimizer state: step ", state.step, " must be 0 to 2^53");
  std::set<std::string> expected;
  for (const Tensor& parameter : parameters)
    for (const std::string& kind : kinds) expected.insert(parameter.name() + "." + kind);
  for (const auto& [name, array] : state.arrays)
    if (expected.count(name) == 0)
      throw_error("optimizer state: '", name, "' belongs to no parameter");
  ArrayIndex arrays;
  for (const auto& [name, array] : state.arrays)
    if (!arrays.emplace(name, &array).second)
      throw_error("optimizer state: '", name, "' is there twice; leave one of them out");
  std::vector<std::vector<Array>> result(kinds.size());
  for (std::size_t k = 0; k < kinds.size(); ++k)
    for (const Tensor& parameter : parameters)
      result[k].push_back(
          find_array(arrays, parameter, parameter.name() + "." + kinds[k], required));
  return result;
}

}  // namespace HEED_NAMESPACE::optim
