// batch_rows.cpp: the batch of some windows of a batch.

#include "train/batch_rows.hpp"

#include <algorithm>

namespace HEED_NAMESPACE {

Batch rows_of(const Batch& batch, std::size_t begin, std::size_t count) {
  const std::size_t T = batch.inputs.shape()[1];
  const Shape shape = {count, T};
  Batch rows{Indices::from_shape(shape), Indices::from_shape(shape)};
  std::copy_n(batch.inputs.data() + begin * T, count * T, rows.inputs.data());
  std::copy_n(batch.targets.data() + begin * T, count * T, rows.targets.data());
  return rows;
}

}  // namespace HEED_NAMESPACE
