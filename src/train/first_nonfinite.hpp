// first_nonfinite.hpp: where the numbers of a step went wrong, once it is known that they did.
#pragma once

#include <functional>
#include <string>

#include "heed/autograd/tensor.hpp"
#include "heed/nn/parameters.hpp"

namespace heed {

// Does it once more with every value watched: "LayerNorm (12, 64, 128) made at
// src/nn/layer_norm.cpp:12 has nan at (0, 0, 0); its inputs: ...", or nothing when all are finite.
std::string first_nonfinite_operation(const std::function<void()>& again);

// "parameter norm.weight is not finite", the first of the model's that is not, or nothing.
std::string first_nonfinite_value(const Parameters& parameters);

// The same, and where all are finite the first to which backward gives a gradient that is not.
// `again` makes the loss once more.
std::string first_nonfinite_parameter(const Parameters& parameters,
                                      const std::function<Tensor()>& again);

}  // namespace heed
