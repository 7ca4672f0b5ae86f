// hash_test.cpp: the 64-bit hash of bytes.

#include "catch.hpp"
#include "heed/base/file.hpp"

using namespace heed;

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
