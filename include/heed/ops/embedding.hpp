// embedding.hpp: embedding lookup: rows of a weight matrix by index.
#pragma once

#include <optional>

#include "heed/array/exact.hpp"
#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// Looks up rows of weight (V, C): indices (...) give (..., C). The gradient of a row is summed over
// all its lookups; row padding_idx gets no gradient. Throws Error for an index outside 0 to V - 1.
Tensor embedding(const IndicesIn& indices, In weight, std::optional<std::int64_t> padding_idx = {});

}  // namespace HEED_NAMESPACE
