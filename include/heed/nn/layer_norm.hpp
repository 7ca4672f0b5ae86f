// layer_norm.hpp: the LayerNorm layer (Ba et al. 2016) over the last axis.
#pragma once

#include "heed/nn/parameters.hpp"

namespace HEED_NAMESPACE::nn {

struct LayerNorm {
  explicit LayerNorm(Scope scope, std::size_t width, bool with_bias = true, double epsilon = 1e-5);

  Tensor operator()(const Tensor& x, SourceLocation location =
                                         SourceLocation::current()) const;  // (..., C) -> (..., C)

  Tensor weight;  // (C), initially ones
  Tensor bias;    // (C), initially zeros; undefined without bias
  double eps;
};

}  // namespace HEED_NAMESPACE::nn
