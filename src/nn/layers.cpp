// layers.cpp: Linear, Norm, Dropout, Embedding and PatchEmbedding, and sinusoidal
// position encodings.

#include "heed/nn/layers.hpp"

#include <cmath>

#include "heed/base/error.hpp"
#include "heed/ops/embedding.hpp"
#include "heed/ops/mask.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/normalize.hpp"
#include "heed/ops/shape.hpp"
#include "nn/layer_name.hpp"
#include "ops/compact.hpp"

namespace HEED_NAMESPACE::nn {

Weight::Weight(const Scope& scope, std::size_t rows, std::size_t columns,
               const std::function<Array()>& draw) {
  if (scope.compact == nullptr) {
    *this = Weight(
        scope.parameter("weight", scope.init.draw ? draw() : uninitialized({rows, columns})));
    return;
  }
  const auto matrix = scope.compact_matrix("weight", rows, columns);
  compact = matrix;
  if (!scope.init.draw) return;
  const Array values = draw();
  matrix->set(0, values.data(), values.size());
}

Tensor linear(In x, const Weight& weight, In bias) {
  return weight.compact ? heed::linear(x, *weight.compact, bias) : heed::linear(x, weight, bias);
}

Tensor embedding(const IndicesIn& indices, const Weight& weight) {
  if (weight.compact) return heed::embedding(indices, *weight.compact);
  return heed::embedding(indices, weight);
}

static Array initial_bias(const Scope& scope, std::size_t in_features, std::size_t out_features) {
  if (!scope.init.draw) return uninitialized({out_features});
  return scope.init.std == 0 ? init::linear_bias(scope.generator, in_features, out_features)
                             : zeros({out_features});
}

Linear::Linear(Scope scope, std::size_t in_features, std::size_t out_features, Bool with_bias) {
  const CallSite site(scope.location);
  scope.checked_size("Linear", "in_features", in_features);
  scope.checked_size("Linear", "out_features", out_features);
  const double std = scope.init.std;
  weight = Weight(scope, out_features, in_features, [&] {
    return std == 0 ? init::linear_weight(scope.generator, in_features, out_features)
                    : scope.generator.normal({out_features, in_features}, 0, std);
  });
  if (with_bias) bias = scope.parameter("bias", initial_bias(scope, in_features, out_features));
}

Tensor Linear::operator()(In x) const { return named_by_layer(linear(x, weight, bias), weight); }

Norm::Norm(Scope scope, std::size_t width, Bool with_bias, NormKind norm_kind, double epsilon)
    : kind(norm_kind),
      weight(scope.parameter("weight", ones({scope.checked_size("Norm", "width", width)}))),
      eps(epsilon) {
  if (with_bias && kind == NormKind::layer) bias = scope.parameter("bias", zeros({width}));
}

Tensor Norm::operator()(In x) const {
  return named_by_layer(kind == NormKind::layer ? layer_norm(x, weight.shape(), weight, bias, eps)
                                                : rms_norm(x, weight.shape(), weight, eps),
                        weight);
}

Dropout::Dropout(double probability, Generator& random, SourceLocation location)
    : p(probability), generator(&random) {
  const CallSite site(location);
  if (!(p >= 0 && p <= 1)) throw_error("Dropout: p = ", p, " is not in [0, 1]");
}

Tensor Dropout::operator()(In x) const {
  if (!training || p == 0) return x;
  if (generator == nullptr) {
    throw_error("Dropout: has no generator; set `generator`, or training = false");
  }
  return heed::dropout(x, p, *generator);
}

Embedding::Embedding(Scope scope, std::size_t num_embeddings, std::size_t embed_dim) {
  const CallSite site(scope.location);
  scope.checked_size("Embedding", "num_embeddings", num_embeddings);
  scope.checked_size("Embedding", "embed_dim", embed_dim);
  const double std = scope.init.std == 0 ? 1 : scope.init.std;
  weight = Weight(scope, num_embeddings, embed_dim, [&] {
    return scope.generator.normal({num_embeddings, embed_dim}, 0, std);
  });
}

Tensor Embedding::operator()(const IndicesIn& indices) const {
  return named_by_layer(embedding(indices, weight), weight);
}

static std::size_t positive_size(const Scope& scope, const char* name, std::size_t size) {
  const CallSite site(scope.location);
  if (size == 0) throw_error("PatchEmbedding: ", name, " must be at least 1");
  return scope.checked_size("PatchEmbedding", name, size);
}

PatchEmbedding::PatchEmbedding(Scope scope, std::size_t num_channels, std::size_t size,
                               std::size_t embed_dim)
    : channels(positive_size(scope, "channels", num_channels)),
      patch_size(positive_size(scope, "patch_size", size)),
      projection(scope, numel({channels, patch_size, patch_size}),
                 positive_size(scope, "embed_dim", embed_dim)) {}

Tensor PatchEmbedding::operator()(In images) const {
  const Shape shape = images.shape();
  if (shape.size() != 4 || shape[1] != channels || shape[2] % patch_size != 0 ||
      shape[3] % patch_size != 0)
    throw_error("PatchEmbedding: ", describe(images, "images"), " must be (B, ", channels,
                ", H, W) with H and W divisible by patch_size = ", patch_size);
  const std::size_t B = shape[0], C = channels, P = patch_size;
  const std::size_t rows = shape[2] / P, columns = shape[3] / P;
  const Tensor cells = reshape(images, {B, C, rows, P, columns, P});
  const Tensor patches = permute(cells, {0, 2, 4, 1, 3, 5});  // (B, rows, columns, C, P, P)
  return projection(reshape(patches, {B, rows * columns, C * P * P}));
}

Array sinusoidal_positions(std::size_t length, std::size_t width, SourceLocation location) {
  const CallSite site(location);
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
