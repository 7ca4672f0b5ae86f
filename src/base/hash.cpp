// hash.cpp: hashes bytes with XXH3.

#include "base/hash.hpp"

#include <xxhash.h>

#include <new>

namespace heed {

std::uint64_t hash64(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

struct Hash64::State {
  State() {
    if (xxh == nullptr) throw std::bad_alloc();
  }
  ~State() { XXH3_freeState(xxh); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  XXH3_state_t* xxh = XXH3_createState();
};

Hash64::Hash64(std::uint64_t seed) : state_(std::make_unique<State>()) {
  XXH3_64bits_reset_withSeed(state_->xxh, seed);
}
Hash64::~Hash64() = default;

void Hash64::add(const void* bytes, std::size_t count) {
  XXH3_64bits_update(state_->xxh, bytes, count);
}

std::uint64_t Hash64::value() const { return XXH3_64bits_digest(state_->xxh); }

}  // namespace heed
