// hash.hpp: a fast 64-bit hash (XXH3) of bytes, for checksums and fingerprints.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heed {

// Detects damage; it is no defence against forgery. For several pieces, give the hash of those
// before as the seed.
std::uint64_t hash64(std::string_view bytes, std::uint64_t seed = 0);

std::string hex_digits(std::uint64_t value);  // 16 of them

}  // namespace heed
