// state.hpp: an optimizer's arrays by their parameters' names, and back.
#pragma once

#include <string>
#include <vector>

#include "heed/optim/optimizer.hpp"

namespace heed::optim {

// state.arrays gets NAME.kind for each parameter that has an array.
void put_arrays(State& state, const std::vector<Tensor>& parameters,
                const std::vector<Array>& arrays, const std::string& kind);

// The arrays back, in the parameters' order. Throws Error, naming the array, when a required one
// is missing or one has another shape than its parameter.
std::vector<Array> taken_arrays(const State& state, const std::vector<Tensor>& parameters,
                                const std::string& kind, bool required);

// Throws Error, naming it, for an array that is none of the parameters' of those kinds.
void check_names(const State& state, const std::vector<Tensor>& parameters,
                 const std::vector<std::string>& kinds);

}  // namespace heed::optim
