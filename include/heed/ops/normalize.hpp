// normalize.hpp: layer normalization, RMS normalization and cosine similarity.
#pragma once

#include <limits>

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// (x - mean) / sqrt(variance + eps) * weight + bias, with the mean and the biased variance over the
// last axes, whose sizes are `normalized_shape`. weight and bias are optional and have that shape.
// Ba, Kiros and Hinton 2016, "Layer Normalization", equation 4.
Tensor layer_norm(In x, const Shape& normalized_shape, In weight = {}, In bias = {},
                  double eps = 1e-5);

// x / sqrt(mean(x^2) + eps) * weight, with the mean over the last axes, whose sizes are
// `normalized_shape`. weight is optional and has that shape. Zhang and Sennrich 2019, "Root Mean
// Square Layer Normalization", equation 4. (torch.rms_norm has the same default eps.)
Tensor rms_norm(In x, const Shape& normalized_shape, In weight = {},
                double eps = std::numeric_limits<Real>::epsilon());

// a.b / (max(|a|, eps) max(|b|, eps)) along an axis, which is removed. Shapes broadcast. The result
// is from -1 to 1: 1 for equal directions, 0 for orthogonal vectors and for zero vectors.
Tensor cosine_similarity(In a, In b, int axis = 1, double eps = 1e-8);

}  // namespace HEED_NAMESPACE
