// diverged.hpp: finds the first value of a failed step that is not finite, for the error Diverged.
#pragma once

#include <functional>
#include <string>

#include "heed/autograd/tensor.hpp"
#include "heed/nn/parameters.hpp"

namespace HEED_NAMESPACE {

// Calls repeat(), which repeats the failed step, and checks the output and gradient of each
// operation in it. Describes the first that is not finite, such as "LayerNorm (12, 64, 128) made at
// src/nn/layers.cpp:52 has nan at (0, 0, 0); its inputs: ...", or returns "" if all are finite.
std::string first_nonfinite_operation(const std::function<void()>& repeat);

// Returns a text such as "parameter norm.weight is not finite" that names the first parameter with
// a value that is not finite, or "" if all parameters are finite.
std::string first_nonfinite_value(const Parameters& parameters);

// Like first_nonfinite_value(), but if all parameters are finite, names the first parameter whose
// gradient is not finite. recompute_loss() repeats the forward pass of the failed step.
std::string first_nonfinite_parameter(const Parameters& parameters,
                                      const std::function<Tensor()>& recompute_loss);

// A text such as "; VALUE; first occurrence: OPERATION", without an empty part.
std::string cause_of(const std::string& value, const std::string& operation);

// Calls cause_of() with what first_nonfinite_parameter() and first_nonfinite_operation() find in
// the repeated step.
std::string cause_in_step(const Parameters& parameters,
                          const std::function<Tensor()>& recompute_loss);

// Formats a value with six significant digits, and NaN without its meaningless sign.
std::string short_number(double value);

}  // namespace HEED_NAMESPACE
