// layer_norm.hpp: each vector brought to mean 0 and variance 1, then to a learned scale.
#pragma once

#include "heed/nn/parameters.hpp"

namespace heed::nn {

struct LayerNorm {
  explicit LayerNorm(Scope scope, std::size_t width, bool with_bias = true, double epsilon = 1e-5);

  Tensor operator()(const Tensor& x, SourceLocation location =
                                         SourceLocation::current()) const;  // (..., C) -> (..., C)

  Tensor weight;  // (C), ones at first
  Tensor bias;    // (C), zeros at first, or nothing
  double eps;
};

}  // namespace heed::nn
