// matmul.hpp: matrix products, and the linear map y = x W^T + b.
#pragma once

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// a (..., M, K) times b (..., K, N) is (..., M, N); batches broadcast. A vector a (K) counts as one
// row and a vector b (K) as one column; the result does not have that axis.
// Error: "matmul: inner sizes differ: x (4, 8, 64), blocks.0.up.weight (32, 256)".
Tensor matmul(const Tensor& a, const Tensor& b,
              SourceLocation location = SourceLocation::current());

// x (..., in) times weight (out, in) transposed, plus bias (out) when given: (..., out).
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              SourceLocation location = SourceLocation::current());

}  // namespace HEED_NAMESPACE
