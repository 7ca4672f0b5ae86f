// hash_test.cpp: tests of Hash64.

#include "heed/base/hash.hpp"

#include <algorithm>
#include <string>

#include "catch.hpp"
#include "heed/base/file.hpp"

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
        CHECK(hash.value() == heed::hash64(bytes.substr(0, size), seed));
      }
}
