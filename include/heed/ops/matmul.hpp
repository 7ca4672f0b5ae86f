// matmul.hpp: products of matrices; the layer y = x W^T + b.
#pragma once

#include "heed/autograd/tensor.hpp"

namespace heed {

// a (..., M, K) times b (..., K, N) is (..., M, N); batches broadcast. A vector a (K) counts as one
// row, a vector b (K) as one column, and that axis is gone from the result.
// Error: "matmul: inner sizes differ: x (4, 8, 64), blocks.0.up.weight (32, 256)".
Tensor matmul(const Tensor& a, const Tensor& b,
              SourceLocation location = SourceLocation::current());

// x (..., in) times weight (out, in) transposed, plus bias (out) when given: (..., out).
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              SourceLocation location = SourceLocation::current());

}  // namespace heed
