// fused_attention.hpp: scaled dot-product attention as one operation.
#pragma once

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// softmax(scale q k^T) v for `heads` heads, stored side by side in the last axis. If causal, the
// query at position t attends to the keys 0 to past + t. The caller checks the shapes.
Tensor fused_attention(const Tensor& q, const Tensor& k, const Tensor& v, bool causal,
                       std::size_t past, Real scale, std::size_t heads, SourceLocation location);

}  // namespace HEED_NAMESPACE
