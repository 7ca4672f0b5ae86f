// hash.hpp: Hash64, which computes hash64 (file.hpp) of bytes that arrive in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace heed {

// The hash of the concatenated pieces: Hash64(seed), add(bytes) and value() give hash64(bytes,
// seed), however the bytes are divided.
class Hash64 {
 public:
  explicit Hash64(std::uint64_t seed = 0);  // no bytes yet
  ~Hash64();
  Hash64(const Hash64&) = delete;
  Hash64& operator=(const Hash64&) = delete;

  void add(const void* bytes, std::size_t count);  // appends `count` bytes
  std::uint64_t value() const;                     // the hash of all bytes so far

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heed
