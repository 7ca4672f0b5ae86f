// activation.hpp: elementwise activation functions: tanh, sigmoid, ReLU, GELU, SiLU.
#pragma once

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// The hyperbolic tangent.
Tensor tanh(In x);
// sigmoid(x) = 1 / (1 + e^-x); relu(x) = max(x, 0), with derivative 0 at 0.
Tensor sigmoid(In x);
Tensor relu(In x);

// gelu(x) = x P(x), where P is the CDF of the standard normal distribution (Hendrycks and Gimpel
// 2016, "Gaussian Error Linear Units", section 2). Gelu::tanh selects the tanh approximation.
enum class Gelu { erf, tanh };
Tensor gelu(In x, Gelu form = Gelu::erf);

// x sigmoid(x), also called Swish (Ramachandran et al. 2017, "Searching for Activation Functions").
Tensor silu(In x);

}  // namespace HEED_NAMESPACE
