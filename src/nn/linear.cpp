// linear.cpp: y = x W^T + b.

#include "heed/nn/linear.hpp"

#include "heed/ops/matmul.hpp"

namespace heed::nn {

Linear::Linear(Scope scope, std::size_t in_features, std::size_t out_features, bool with_bias)
    : weight(scope.parameter("weight", scope.generator.linear_weight(in_features, out_features))) {
  if (with_bias)
    bias = scope.parameter("bias", scope.generator.linear_bias(in_features, out_features));
}

Tensor Linear::operator()(const Tensor& x, SourceLocation location) const {
  return linear(x, weight, bias, location);
}

}  // namespace heed::nn
