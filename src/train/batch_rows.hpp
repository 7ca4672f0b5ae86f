// batch_rows.hpp: the batch of some windows of a batch.
#pragma once

#include <cstddef>

#include "heed/text/corpus.hpp"

namespace HEED_NAMESPACE {

// The windows (rows) begin to begin + count - 1 of a batch.
Batch rows_of(const Batch& batch, std::size_t begin, std::size_t count);

}  // namespace HEED_NAMESPACE
