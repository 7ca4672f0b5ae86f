// state.hpp: conversion between an optimizer's arrays and its State.
#pragma once

#include <string>
#include <vector>

#include "heed/optim/optimizer.hpp"

namespace HEED_NAMESPACE::optim {

// Appends arrays[i] to state.arrays as NAME.kind, NAME being the name of parameters[i]. Skips
// undefined arrays. Throws Error for a parameter without a name.
void append_arrays(State& state, const std::vector<Tensor>& parameters,
                   const std::vector<Array>& arrays, const std::string& kind);

// The arrays NAME.kind of the state in the order of the parameters. Throws Error, naming the array,
// when a required array is missing or its shape differs from that of its parameter.
std::vector<Array> find_arrays(const State& state, const std::vector<Tensor>& parameters,
                               const std::string& kind, bool required);

// Throws Error for an array of the state whose name is not NAME.kind for any parameter and kind.
void check_array_names(const State& state, const std::vector<Tensor>& parameters,
                       const std::vector<std::string>& kinds);

}  // namespace HEED_NAMESPACE::optim
