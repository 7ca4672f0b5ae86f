// layers.cpp: the Linear, LayerNorm and Embedding layers, and sinusoidal position encodings.

#include "heed/nn/layers.hpp"

#include <cmath>

#include "heed/base/error.hpp"
#include "heed/ops/embedding.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/normalize.hpp"

namespace HEED_NAMESPACE::nn {

// The order of the operations is PyTorch's, so that the results are rounded alike. `volatile`
// prevents a compiler that may reassociate (-ffast-math) from simplifying sqrt(3) * gain to 1.
Array init::linear_weight(Generator& generator, std::size_t in_features, std::size_t out_features) {
  if (in_features == 0) return uninitialized({out_features, in_features});
  const double gain = std::sqrt(2.0 / (1 + std::pow(std::sqrt(5.0), 2)));
  const volatile double std = gain / std::sqrt(static_cast<double>(in_features));
  const double bound = std::sqrt(3.0) * std;
  return generator.uniform({out_features, in_features}, -bound, bound);
}

Array init::linear_bias(Generator& generator, std::size_t in_features, std::size_t out_features) {
  const double bound = in_features == 0 ? 0 : 1 / std::sqrt(static_cast<double>(in_features));
  return generator.uniform({out_features}, -bound, bound);
}

Linear::Linear(Scope scope, std::size_t in_features, std::size_t out_features, bool with_bias) {
  const double std = scope.init.std;
  Generator& generator = scope.generator;
  weight =
      scope.parameter("weight", std == 0 ? init::linear_weight(generator, in_features, out_features)
                                         : generator.normal({out_features, in_features}, 0, std));
  if (with_bias)
    bias =
        scope.parameter("bias", std == 0 ? init::linear_bias(generator, in_features, out_features)
                                         : zeros({out_features}));
}

Tensor Linear::operator()(const Tensor& x, SourceLocation location) const {
  return linear(x, weight, bias, location);
}

LayerNorm::LayerNorm(Scope scope, std::size_t width, bool with_bias, double epsilon)
    : weight(scope.parameter("weight", ones({width}))), eps(epsilon) {
  if (with_bias) bias = scope.parameter("bias", zeros({width}));
}

Tensor LayerNorm::operator()(const Tensor& x, SourceLocation location) const {
  return layer_norm(x, weight.shape(), weight, bias, eps, location);
}

Embedding::Embedding(Scope scope, std::size_t num_embeddings, std::size_t embed_dim)
    : weight(scope.parameter("weight",
                             scope.generator.normal({num_embeddings, embed_dim}, 0,
                                                    scope.init.std == 0 ? 1 : scope.init.std))) {}

Tensor Embedding::operator()(const Indices& indices, SourceLocation location) const {
  return embedding(indices, weight, {}, location);
}

Array sinusoidal_positions(std::size_t length, std::size_t width) {
  if (width == 0 || width % 2 != 0)
    throw_error("sinusoidal_positions: width ", width,
                " must be even and at least 2: each frequency has a sine and a cosine");
  Array positions = uninitialized({length, width});
  for (std::size_t i = 0; i < width; i += 2) {
    // Angles are double, because a float angle of thousands of radians has few correct decimals.
    const double divisor = std::pow(10000.0, static_cast<double>(i) / static_cast<double>(width));
    for (std::size_t t = 0; t < length; ++t) {
      const double angle = static_cast<double>(t) / divisor;
      positions(t, i) = static_cast<Real>(std::sin(angle));
      positions(t, i + 1) = static_cast<Real>(std::cos(angle));
    }
  }
  return positions;
}

}  // namespace HEED_NAMESPACE::nn
