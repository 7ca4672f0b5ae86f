// first_nonfinite.hpp: finds the first value of a failed step that is not finite.
#pragma once

#include <functional>
#include <string>

#include "heed/autograd/tensor.hpp"
#include "heed/nn/parameters.hpp"

namespace HEED_NAMESPACE {

// Calls repeat() and checks every value. Returns "LayerNorm (12, 64, 128) made at
// src/nn/layer_norm.cpp:12 has nan at (0, 0, 0); its inputs: ...", or "" when all are finite.
std::string first_nonfinite_operation(const std::function<void()>& repeat);

// "parameter norm.weight is not finite" for the first such parameter, or "".
std::string first_nonfinite_value(const Parameters& parameters);

// The same; if all parameters are finite, the first one whose gradient is not. recompute_loss()
// repeats the forward pass of the failed step.
std::string first_nonfinite_parameter(const Parameters& parameters,
                                      const std::function<Tensor()>& recompute_loss);

}  // namespace HEED_NAMESPACE
