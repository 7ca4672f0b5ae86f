// batches.hpp: random training batches of token windows with next-token targets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "heed/array/array.hpp"
#include "heed/array/random.hpp"
#include "heed/text/corpus.hpp"

namespace HEED_NAMESPACE {

struct Batch {
  Indices inputs;   // (B, T)
  Indices targets;  // (B, T): targets(b, t) is the token after inputs(b, t)
};

// B windows of T + 1 tokens from random positions of the split. The start positions are those of
// torch.randint(len(part) - T, (B,)), as in nanoGPT's get_batch. Throws Error if the split has at
// most T tokens, or if B or T is 0.
Batch random_batch(const Split& part, std::size_t batch_size, std::size_t block_size,
                   Generator& generator);

// A sequence of random batches with its own random generator.
class Batches {
 public:
  // Throws Error like random_batch. The corpus must outlive this object.
  Batches(const Split& part, std::size_t batch_size, std::size_t block_size, Generator generator);
  Batches(const Split& part, std::size_t batch_size, std::size_t block_size, std::uint64_t seed);

  Batch next();

  // Reseeds the generator, so that every evaluation can use the same windows.
  void rewind(std::uint64_t seed) { generator_ = Generator(seed); }

  // The generator's state for checkpoints. After set_state, the same batches follow.
  std::string state() const { return generator_.state(); }
  void set_state(const std::string& state) { generator_.set_state(state); }  // throws Error

 private:
  Split part_;
  std::size_t batch_size_;
  std::size_t block_size_;
  Generator generator_;
};

}  // namespace HEED_NAMESPACE
