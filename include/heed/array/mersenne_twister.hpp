// mersenne_twister.hpp: random bits, the same on every platform.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace heed {

// MT19937: M. Matsumoto and T. Nishimura, "Mersenne Twister", ACM TOMACS 8 (1998), seeded by their
// init_genrand of 2002. The engine of PyTorch on a CPU, and of std::mt19937.
struct MersenneTwister {
  explicit MersenneTwister(std::uint32_t seed);

  std::uint32_t random();    // the next 32 bits
  std::uint64_t random64();  // two draws, the first the high half

  // A number in [0, 1), as PyTorch makes it: a float of one draw, a double of two.
  template <class T>
  T uniform();

  void twist();  // renews all the words

  // The whole state: an engine given these two goes on exactly here.
  std::array<std::uint32_t, 624> words;
  std::size_t next = 624;  // the word the next draw comes from; 624: twist first
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

}  // namespace heed
