// activation.hpp: elementwise activation functions: tanh, sigmoid, ReLU, GELU.
#pragma once

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// The hyperbolic tangent.
Tensor tanh(const Tensor& x, SourceLocation location = SourceLocation::current());
// sigmoid(x) = 1 / (1 + e^-x); relu(x) = max(x, 0), with derivative 0 at 0.
Tensor sigmoid(const Tensor& x, SourceLocation location = SourceLocation::current());
Tensor relu(const Tensor& x, SourceLocation location = SourceLocation::current());

// x P(x), where P is the CDF of the standard normal distribution (Hendrycks and Gimpel 2016,
// "Gaussian Error Linear Units", section 2). Gelu::tanh is the tanh approximation.
enum class Gelu { erf, tanh };
Tensor gelu(const Tensor& x, Gelu form = Gelu::erf,
            SourceLocation location = SourceLocation::current());

}  // namespace HEED_NAMESPACE
