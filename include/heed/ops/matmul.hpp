// matmul.hpp: matrix products, and the linear map y = x W^T + b.
#pragma once

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// a (..., M, K) times b (..., K, N) is (..., M, N); batches broadcast. A vector a (K) is used as
// one row, a vector b (K) as one column; the result does not have that axis. If the inner sizes
// differ, throws Error "matmul: inner sizes differ: x (4, 8, 64), blocks.0.up.weight (32, 256)".
Tensor matmul(const Tensor& a, const Tensor& b,
              SourceLocation location = SourceLocation::current());

// x W^T + b: x (..., in), weight W (out, in) and the optional bias b (out) give (..., out).
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              SourceLocation location = SourceLocation::current());

}  // namespace HEED_NAMESPACE
