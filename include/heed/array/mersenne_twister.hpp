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
  explicit MersenneTwister(std::uint32_t seed);

  std::uint32_t random();    // the next 32 bits
  std::uint64_t random64();  // two 32-bit draws; the first is the high half

  // A uniform number in [0, 1), computed as in PyTorch: a float from one draw, a double from two.
  template <class T>
  T uniform();

  void twist();  // generates the next 624 words

  // The complete state. Copying both members resumes the sequence exactly.
  std::array<std::uint32_t, 624> words;
  std::size_t next = 624;  // index of the word for the next draw; at 624, twist() runs first
};

inline std::uint32_t MersenneTwister::random() {
  if (next == words.size()) twist();
  std::uint32_t x = words[next++];
  x ^= x >> 11;
  x ^= (x << 7) & 0x9d2c5680u;
  x ^= (x << 15) & 0xefc60000u;
  return x ^ (x >> 18);
}

inline std::uint64_t MersenneTwister::random64() {
  const std::uint64_t high = random();
  return (high << 32) | random();
}

template <class T>
T MersenneTwister::uniform() {
  if constexpr (std::is_same_v<T, float>) {
    return static_cast<float>(random() & 0xffffff) * 0x1p-24f;
  } else {
    return static_cast<double>(random64() & ((std::uint64_t{1} << 53) - 1)) * 0x1p-53;
  }
}

}  // namespace HEED_NAMESPACE
