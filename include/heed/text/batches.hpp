// batches.hpp: random windows of a text, and the symbol that follows each of their symbols.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "heed/array/array.hpp"
#include "heed/array/random.hpp"
#include "heed/text/corpus.hpp"

namespace heed {

struct Batch {
  Indices inputs;   // (B, T)
  Indices targets;  // (B, T): targets(b, t) is the symbol after inputs(b, t)
};

// B windows of T + 1 symbols from anywhere in the part, with the starts of
// torch.randint(len(part) - T, (B,)), as nanoGPT draws them. Throws Error when the part has no
// more than T symbols, or when B or T is 0.
Batch random_batch(const Split& part, std::size_t batch_size, std::size_t block_size,
                   Generator& generator);

// The same, one batch after the other, with a generator of its own.
class Batches {
 public:
  // Throws Error as random_batch does. The corpus must outlive the batches.
  Batches(const Split& part, std::size_t batch_size, std::size_t block_size, Generator generator);
  Batches(const Split& part, std::size_t batch_size, std::size_t block_size, std::uint64_t seed);

  Batch next();

  // Starts over, so that every evaluation can see the same windows.
  void rewind(std::uint64_t seed) { generator_ = Generator(seed); }

  // For checkpoints: batches with this state go on with the very next windows.
  std::string state() const { return generator_.state(); }
  void set_state(const std::string& state) { generator_.set_state(state); }  // throws Error

 private:
  Split part_;
  std::size_t batch_size_;
  std::size_t block_size_;
  Generator generator_;
};

}  // namespace heed
