// mersenne_twister.cpp: seeding and state update of the MT19937 engine.

#include "heed/array/mersenne_twister.hpp"

namespace HEED_NAMESPACE {

MersenneTwister::MersenneTwister(std::uint32_t seed) {
  words[0] = seed;
  for (std::uint32_t i = 1; i < 624; ++i)
    words[i] = 1812433253u * (words[i - 1] ^ (words[i - 1] >> 30)) + i;
}

void MersenneTwister::twist() {
  const auto update = [this](std::size_t i, std::size_t next_word, std::size_t far_word) {
    const std::uint32_t joined = (words[i] & 0x80000000u) | (words[next_word] & 0x7fffffffu);
    words[i] = words[far_word] ^ (joined >> 1) ^ (joined % 2 * 0x9908b0dfu);
  };
  for (std::size_t i = 0; i < 227; ++i) update(i, i + 1, i + 397);
  for (std::size_t i = 227; i < 623; ++i) update(i, i + 1, i - 227);
  update(623, 0, 396);
  next = 0;
}

}  // namespace HEED_NAMESPACE
