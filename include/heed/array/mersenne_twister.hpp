// mersenne_twister.hpp: the MT19937 random number engine (Matsumoto and Nishimura 1998).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE {

// MT19937: M. Matsumoto and T. Nishimura, "Mersenne Twister", ACM TOMACS 8 (1998), seeded by their
// init_genrand of 2002. PyTorch on a CPU and std::mt19937 use the same engine.
struct MersenneTwister {
  // Two engines with the same seed generate the same sequence.
  explicit MersenneTwister(std::uint32_t seed) {
    words[0] = seed;
    for (std::uint32_t i = 1; i < 624; ++i)
      words[i] = 1812433253u * (words[i - 1] ^ (words[i - 1] >> 30)) + i;
  }

  // Returns the next 32 random bits.
  std::uint32_t random() {
    if (next == words.size()) twist();
    std::uint32_t x = words[next++];
    x ^= x >> 11;
    x ^= (x << 7) & 0x9d2c5680u;
    x ^= (x << 15) & 0xefc60000u;
    return x ^ (x >> 18);
  }

  // Returns 64 random bits from two calls of random(), the first of which gives the high half.
  std::uint64_t random64() {
    const std::uint64_t high = random();
    return (high << 32) | random();
  }

  // A random number in [0, 1) as in PyTorch: a float from one 32-bit number, a double from two.
  template <class T>
  T uniform() {
    if constexpr (std::is_same_v<T, float>)
      return static_cast<float>(random() & 0xffffff) * 0x1p-24f;
    else
      return static_cast<double>(random64() & ((std::uint64_t{1} << 53) - 1)) * 0x1p-53;
  }

  // Generates the next 624 random 32-bit words.
  void twist() {
    const auto update = [this](std::size_t i, std::size_t next_word, std::size_t far_word) {
      const std::uint32_t joined = (words[i] & 0x80000000u) | (words[next_word] & 0x7fffffffu);
      words[i] = words[far_word] ^ (joined >> 1) ^ (joined % 2 * 0x9908b0dfu);
    };
    for (std::size_t i = 0; i < 227; ++i) update(i, i + 1, i + 397);
    for (std::size_t i = 227; i < 623; ++i) update(i, i + 1, i - 227);
    update(623, 0, 396);
    next = 0;
  }

  // The engine's state: an engine with the same `words` and `next` generates the same sequence.
  std::array<std::uint32_t, 624> words;
  std::size_t next = 624;  // index of the next word to return; if 624, twist() runs first
};

}  // namespace HEED_NAMESPACE
