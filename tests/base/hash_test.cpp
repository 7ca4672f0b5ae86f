// hash_test.cpp: tests of hash64 and Hash64.

#include "base/hash.hpp"

#include <algorithm>
#include <string>

#include "catch.hpp"

using heed::hash64;

TEST_CASE("the hash is XXH3 with its published values", "[base][hash]") {
  CHECK(hash64("") == 0x2d06800538d394c2u);
  CHECK(hash64("a") == 0xe6c632b61e964e1fu);
  CHECK(hash64("abc") == 0x78af5f94892f3950u);
}

TEST_CASE("a flipped bit and another seed change the hash", "[base][hash]") {
  std::string text(10'000, 'x');
  const std::uint64_t before = hash64(text);
  CHECK(hash64(text, 1) != before);
  for (const std::size_t i : {0u, 777u, 9'999u}) {
    text[i] ^= 1;
    CHECK(hash64(text) != before);
    text[i] ^= 1;
  }
  CHECK(hash64(text) == before);
}

TEST_CASE("Hash64 of pieces equals hash64 of all bytes, for any division into pieces",
          "[base][hash]") {
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes += static_cast<char>(i * i % 251);
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{12345}})
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{240}, bytes.size()})
      for (const std::size_t piece : {1, 7, 256, 9000}) {
        heed::Hash64 hash(seed);
        for (std::size_t i = 0; i < size; i += piece)
          hash.add(bytes.data() + i, std::min(piece, size - i));
        CHECK(hash.value() == hash64(bytes.substr(0, size), seed));
      }
}
