// batches.cpp: random training batches; the targets are the inputs shifted by one token.

#include "heed/text/batches.hpp"

#include <utility>

#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {
namespace {

void check(const Split& part, std::size_t batch_size, std::size_t block_size) {
  if (batch_size == 0) throw_error("batches: batch size is 0; give at least 1");
  if (block_size == 0) throw_error("batches: block size is 0; give at least 1");
  if (part.size > block_size) return;
  const std::size_t total = part.corpus->size();
  throw_error("the ", part.name, " split has ", part.size, " of the text's ", total,
              total == 1 ? " token" : " tokens", ", too few for block size ", block_size,
              "; give a longer text or a smaller block size");
}

}  // namespace

Batch random_batch(const Split& part, std::size_t batch_size, std::size_t block_size,
                   Generator& generator) {
  check(part, batch_size, block_size);
  const std::int64_t num_starts = static_cast<std::int64_t>(part.size - block_size);
  const Indices starts = generator.randint(0, num_starts, {batch_size});  // (B)
  const Shape shape = {batch_size, block_size};
  Batch batch{Indices::from_shape(shape), Indices::from_shape(shape)};
  for (std::size_t b = 0; b < batch_size; ++b) {
    const std::size_t start = part.begin + static_cast<std::size_t>(starts(b));
    part.corpus->copy_ids(start, block_size, batch.inputs.data() + b * block_size);
    part.corpus->copy_ids(start + 1, block_size, batch.targets.data() + b * block_size);
  }
  return batch;
}

Batches::Batches(const Split& part, std::size_t batch_size, std::size_t block_size,
                 Generator generator)
    : part_(part),
      batch_size_(batch_size),
      block_size_(block_size),
      generator_(std::move(generator)) {
  check(part_, batch_size_, block_size_);
}

Batches::Batches(const Split& part, std::size_t batch_size, std::size_t block_size,
                 std::uint64_t seed)
    : Batches(part, batch_size, block_size, Generator(seed)) {}

Batch Batches::next() { return random_batch(part_, batch_size_, block_size_, generator_); }

}  // namespace HEED_NAMESPACE
