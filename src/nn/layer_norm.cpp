// layer_norm.cpp: the LayerNorm layer over the last axis.

#include "heed/nn/layer_norm.hpp"

#include "heed/ops/normalize.hpp"

namespace HEED_NAMESPACE::nn {

LayerNorm::LayerNorm(Scope scope, std::size_t width, bool with_bias, double epsilon)
    : weight(scope.parameter("weight", ones({width}))), eps(epsilon) {
  if (with_bias) bias = scope.parameter("bias", zeros({width}));
}

Tensor LayerNorm::operator()(const Tensor& x, SourceLocation location) const {
  return layer_norm(x, weight.shape(), weight, bias, eps, location);
}

}  // namespace HEED_NAMESPACE::nn
