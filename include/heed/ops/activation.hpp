// activation.hpp: elementwise activation functions: tanh, sigmoid, ReLU, GELU.
#pragma once

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

Tensor tanh(const Tensor& x, SourceLocation location = SourceLocation::current());
Tensor sigmoid(const Tensor& x,
               SourceLocation location = SourceLocation::current());  // 1 / (1 + e^-x)
Tensor relu(const Tensor& x,
            SourceLocation location = SourceLocation::current());  // max(x, 0); derivative 0 at 0

// x times the CDF of the normal distribution at x (Hendrycks and Gimpel 2016, "Gaussian Error
// Linear Units", section 2): exact, with erf, or the paper's tanh approximation.
enum class Gelu { erf, tanh };
Tensor gelu(const Tensor& x, Gelu form = Gelu::erf,
            SourceLocation location = SourceLocation::current());

}  // namespace HEED_NAMESPACE
