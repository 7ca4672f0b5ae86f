// linear.hpp: the Linear layer, y = x W^T + b.
#pragma once

#include "heed/nn/parameters.hpp"

namespace HEED_NAMESPACE::nn {

struct Linear {
  // Draws the weight, then the bias, uniformly from +-1 / sqrt(in_features), as PyTorch does,
  // unless the scope has another WeightInit.
  Linear(Scope scope, std::size_t in_features, std::size_t out_features, bool with_bias = true);

  Tensor operator()(const Tensor& x, SourceLocation location = SourceLocation::current())
      const;  // (..., in) -> (..., out)

  Tensor weight;  // (out, in)
  Tensor bias;    // (out); undefined without bias
};

}  // namespace HEED_NAMESPACE::nn
