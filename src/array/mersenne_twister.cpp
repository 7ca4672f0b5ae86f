// mersenne_twister.cpp: random bits, the same on every platform.

#include "heed/array/mersenne_twister.hpp"

namespace heed {

MersenneTwister::MersenneTwister(std::uint32_t seed) {
  words[0] = seed;
  for (std::uint32_t i = 1; i < 624; ++i)
    words[i] = 1812433253u * (words[i - 1] ^ (words[i - 1] >> 30)) + i;
}

void MersenneTwister::twist() {
  const auto renew = [this](std::size_t i, std::size_t after, std::size_t far) {
    const std::uint32_t joined = (words[i] & 0x80000000u) | (words[after] & 0x7fffffffu);
    words[i] = words[far] ^ (joined >> 1) ^ (joined % 2 * 0x9908b0dfu);
  };
  for (std::size_t i = 0; i < 227; ++i) renew(i, i + 1, i + 397);
  for (std::size_t i = 227; i < 623; ++i) renew(i, i + 1, i - 227);
  renew(623, 0, 396);
  next = 0;
}

}  // namespace heed
