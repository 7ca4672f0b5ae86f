// hash.hpp: hash64, a fast hash (XXH3) to detect changed bytes, and Hash64, which hashes bytes
// piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace heed {

// A fast, non-cryptographic hash (XXH3) for checksums and fingerprints. To hash several pieces in
// sequence, pass the hash of the previous pieces as the seed.
std::uint64_t hash64(std::string_view bytes, std::uint64_t seed = 0);

// The hash of the concatenated pieces: Hash64(seed), add(bytes) and value() give hash64(bytes,
// seed), however the bytes are divided.
class Hash64 {
 public:
  explicit Hash64(std::uint64_t seed = 0);  // the hash of no bytes
  ~Hash64();
  Hash64(const Hash64&) = delete;
  Hash64& operator=(const Hash64&) = delete;

  void add(const void* bytes, std::size_t count);  // hashes `count` more bytes
  std::uint64_t value() const;                     // the hash of all bytes so far

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heed
