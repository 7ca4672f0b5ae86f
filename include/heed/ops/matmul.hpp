// matmul.hpp: matrix products, and the linear map y = x W^T + b.
#pragma once

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// a (..., M, K) times b (..., K, N) is (..., M, N); batches broadcast. A vector a (K) is used as
// one row, a vector b (K) as one column; the result does not have that axis. If the inner sizes
// differ, throws Error "matmul: inner sizes differ: x (4, 8, 64), blocks.0.up.weight (32, 256)".
Tensor matmul(In a, In b);

// x W^T + b: x (..., in), weight W (out, in) and the optional bias b (out) give (..., out).
Tensor linear(In x, In weight, In bias = {});

}  // namespace HEED_NAMESPACE
