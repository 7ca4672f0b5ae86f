// activation.hpp: the bends between linear layers.
#pragma once

#include "heed/autograd/tensor.hpp"

namespace heed {

Tensor tanh(const Tensor& x, SourceLocation location = SourceLocation::current());
Tensor sigmoid(const Tensor& x,
               SourceLocation location = SourceLocation::current());  // 1 / (1 + e^-x)
Tensor relu(const Tensor& x,
            SourceLocation location = SourceLocation::current());  // max(x, 0); slope 0 at 0

// x times the share of a normal distribution below x (Hendrycks and Gimpel 2016, "Gaussian Error
// Linear Units", section 2): exactly, with erf, or by the paper's tanh approximation.
enum class Gelu { erf, tanh };
Tensor gelu(const Tensor& x, Gelu form = Gelu::erf,
            SourceLocation location = SourceLocation::current());

}  // namespace heed
