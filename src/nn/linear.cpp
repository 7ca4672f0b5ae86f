// linear.cpp: the Linear layer, y = x W^T + b.

#include "heed/nn/linear.hpp"

#include "heed/nn/init.hpp"
#include "heed/ops/matmul.hpp"

namespace HEED_NAMESPACE::nn {

static Array initial_weight(const Scope& scope, std::size_t in_features, std::size_t out_features) {
  if (scope.init.std == 0) return init::linear_weight(scope.generator, in_features, out_features);
  return scope.generator.normal({out_features, in_features}, 0, scope.init.std);
}

static Array initial_bias(const Scope& scope, std::size_t in_features, std::size_t out_features) {
  if (scope.init.std == 0) return init::linear_bias(scope.generator, in_features, out_features);
  return zeros({out_features});
}

Linear::Linear(Scope scope, std::size_t in_features, std::size_t out_features, bool with_bias)
    : weight(scope.parameter("weight", initial_weight(scope, in_features, out_features))) {
  if (with_bias) bias = scope.parameter("bias", initial_bias(scope, in_features, out_features));
}

Tensor Linear::operator()(const Tensor& x, SourceLocation location) const {
  return linear(x, weight, bias, location);
}

}  // namespace HEED_NAMESPACE::nn
