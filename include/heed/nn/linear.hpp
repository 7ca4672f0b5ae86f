// linear.hpp: y = x W^T + b, the layer that learns a direction for each of its outputs.
#pragma once

#include "heed/nn/parameters.hpp"

namespace heed::nn {

struct Linear {
  // Draws the weight, then the bias, uniformly from +-1 / sqrt(in_features), as PyTorch does.
  Linear(Scope scope, std::size_t in_features, std::size_t out_features, bool with_bias = true);

  Tensor operator()(const Tensor& x, SourceLocation location = SourceLocation::current())
      const;  // (..., in) -> (..., out)

  Tensor weight;  // (out, in)
  Tensor bias;    // (out), or nothing
};

}  // namespace heed::nn
