// embedding.hpp: each index picks a row of a table.
#pragma once

#include <optional>

#include "heed/autograd/tensor.hpp"

namespace heed {

// indices (...) and weight (V, C) give (..., C). A row used several times collects the gradient of
// every use; the row padding_idx collects none. Throws Error for an index outside 0 to V - 1.
Tensor embedding(const Indices& indices, const Tensor& weight,
                 std::optional<std::int64_t> padding_idx = {},
                 SourceLocation location = SourceLocation::current());

}  // namespace heed
