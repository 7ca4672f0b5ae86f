// normalize.hpp: vectors brought to a common scale.
#pragma once

#include "heed/autograd/tensor.hpp"

namespace heed {

// Over the last axes, those of `normalized_shape`: mean 0 and variance 1 (biased, plus eps), then
// times weight, plus bias, each optional and of `normalized_shape`.
// Ba, Kiros and Hinton 2016, "Layer Normalization", equation 4.
Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5,
                  SourceLocation location = SourceLocation::current());

// a.b / (max(|a|, eps) max(|b|, eps)) along an axis, which goes; shapes broadcast. In [-1, 1]:
// 1 for the same direction, 0 at right angles; 0 for a zero vector.
Tensor cosine_similarity(const Tensor& a, const Tensor& b, int axis = 1, double eps = 1e-8,
                         SourceLocation location = SourceLocation::current());

}  // namespace heed
