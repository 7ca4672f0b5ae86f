// fused_attention.hpp: scaled dot-product attention as one operation.
#pragma once

#include "heed/ops/attention.hpp"

namespace HEED_NAMESPACE {

// scaled_dot_product_attention with options that have neither mask nor bias. The caller checks the
// shapes.
Tensor fused_attention(In q, In k, In v, const AttentionOptions& options, Real scale);

}  // namespace HEED_NAMESPACE
