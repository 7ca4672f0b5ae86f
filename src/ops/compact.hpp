// compact.hpp: linear maps and embedding lookups with compact weights, for inference.
#pragma once

#include "heed/array/exact.hpp"
#include "heed/autograd/tensor.hpp"
#include "heed/gemm/compact.hpp"

namespace HEED_NAMESPACE {

// linear() and embedding() for a compact weight matrix. x, the bias and the result are in Real, and
// so are the sums. They have no backward: they throw Error unless a NoGrad object exists.
// HEED_TRACE calls them Linear and Embedding, as it calls the operations on weights in Real.

// x W^T + b: x (..., in), weight W (out, in) and the optional bias b (out) give (..., out).
Tensor linear(In x, const CompactMatrix& weight, In bias = {});

// Rows of weight (V, C): indices (...) give (..., C). Throws Error for an index outside 0 to V - 1.
Tensor embedding(const IndicesIn& indices, const CompactMatrix& weight);

}  // namespace HEED_NAMESPACE
