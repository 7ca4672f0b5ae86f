// state.cpp: conversion between an optimizer's arrays and its State.

#include "optim/state.hpp"

#include <algorithm>
#include <set>

#include "heed/base/error.hpp"

namespace HEED_NAMESPACE::optim {

void append_arrays(State& state, const std::vector<Tensor>& parameters,
                   const std::vector<Array>& arrays, const std::string& kind) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name().empty())
      throw_error("optimizer state: ", describe(parameters[i], "a parameter"),
                  " has no name; name it to save it");
    if (is_defined(arrays[i]))
      state.arrays.emplace_back(parameters[i].name() + "." + kind, arrays[i]);
  }
}

std::vector<Array> find_arrays(const State& state, const std::vector<Tensor>& parameters,
                               const std::string& kind, bool required) {
  std::vector<Array> result;
  for (const Tensor& parameter : parameters) {
    const std::string name = parameter.name() + "." + kind;
    const auto found = std::find_if(state.arrays.begin(), state.arrays.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    if (found == state.arrays.end() && required) throw_error("optimizer state: no '", name, "'");
    if (found != state.arrays.end() && found->second.shape() != parameter.shape())
      throw_error("optimizer state: '", name, "' has shape ", str(found->second.shape()),
                  ", but its parameter has ", str(parameter.shape()));
    result.push_back(found == state.arrays.end() ? undefined_array() : found->second);
  }
  return result;
}

void check_array_names(const State& state, const std::vector<Tensor>& parameters,
                       const std::vector<std::string>& kinds) {
  std::set<std::string> expected;
  for (const Tensor& parameter : parameters)
    for (const std::string& kind : kinds) expected.insert(parameter.name() + "." + kind);
  for (const auto& [name, array] : state.arrays)
    if (expected.count(name) == 0)
      throw_error("optimizer state: '", name, "' belongs to no parameter");
}

}  // namespace HEED_NAMESPACE::optim
