// hash.cpp: a fast 64-bit hash of bytes; the only file that includes xxhash.h.

#include "heed/base/hash.hpp"

#include <xxhash.h>

#include <cstdio>

namespace heed {

std::uint64_t hash64(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::string hex_digits(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace heed
