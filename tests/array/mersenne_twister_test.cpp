// mersenne_twister_test.cpp: MersenneTwister against std::mt19937; uniform numbers.

#include "heed/array/mersenne_twister.hpp"

#include <random>

#include "catch.hpp"

using heed::MersenneTwister;

TEST_CASE("MersenneTwister gives the numbers of std::mt19937", "[array][random]") {
  std::mt19937 standard(5489);
  MersenneTwister ours(5489);
  for (int i = 0; i < 2000; ++i) REQUIRE(ours.random() == standard());
}

TEST_CASE("random64 takes two draws, the first as the high half", "[array][random]") {
  MersenneTwister one(7), two(7);
  const std::uint64_t high = two.random(), low = two.random();
  CHECK(one.random64() == high * 0x100000000 + low);
}

TEST_CASE("uniform<float> uses the low 24 bits of a draw, uniform<double> the low 53 of two",
          "[array][random]") {
  MersenneTwister a(7), b(7);
  CHECK(a.uniform<float>() == static_cast<float>(b.random() % 0x1000000) / 0x1000000);
  CHECK(a.uniform<double>() ==
        static_cast<double>(b.random64() % 0x20000000000000) / 0x20000000000000);
}

TEST_CASE("a copied engine is independent of the original", "[array][random]") {
  MersenneTwister a(7);
  a.random();
  MersenneTwister b = a;
  const std::uint32_t next = a.random();
  CHECK(b.random() == next);
}
