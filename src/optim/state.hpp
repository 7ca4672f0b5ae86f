// state.hpp: conversion between an optimizer's arrays and its State, and checks of options.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "heed/base/error.hpp"
#include "heed/optim/optimizer.hpp"

namespace HEED_NAMESPACE::optim {

// Throws an Error such as "AdamW: lr -1 must be 0 or more" unless the value is finite and `good` is
// true.
template <class Number>
void check_option(const char* owner, const char* option, Number value, bool good,
                  const char* range) {
  if (std::isinf(static_cast<double>(value)))
    throw_error(owner, ": ", option, " ", value, " must be finite");
  if (!good) throw_error(owner, ": ", option, " ", value, " must be ", range);
}

// Whether a step changes the parameter: it has a gradient, and has not been frozen since.
inline bool is_updated(const Tensor& parameter) {
  return parameter.requires_grad() && parameter.has_grad();
}

// Throws Error unless a parameter, its gradient and an array of the optimizer's state have one
// shape.
void check_shapes(const Tensor& parameter, const Array& state);

// Appends arrays[i] to state.arrays as NAME.kind, where NAME is the name of parameters[i]. Skips
// undefined arrays. Throws Error for a parameter without a name.
void append_arrays(State& state, const std::vector<Tensor>& parameters,
                   const std::vector<Array>& arrays, const std::string& kind);

// For each kind of array in `kinds`, such as "momentum", returns the arrays NAME.kind of `state`,
// where NAME is a parameter's name, in the order of `parameters`. Throws Error with the array's
// name if NAME is no parameter, if `kinds` does not contain the kind, if a required array is
// missing, or if an array and its parameter differ in shape.
std::vector<std::vector<Array>> find_arrays(const State& state,
                                            const std::vector<Tensor>& parameters,
                                            const std::vector<std::string>& kinds, bool required);

}  // namespace HEED_NAMESPACE::optim
