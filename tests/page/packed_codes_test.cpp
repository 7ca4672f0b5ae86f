// packed_codes_test.cpp: Huffman codes of the bytes of 16-bit codes, and their decoding.

#include "page/packed_codes.hpp"

#include <algorithm>
#include <cmath>

#include "catch.hpp"
#include "heed/array/random.hpp"

using namespace heed;

namespace {

using Codes = std::vector<std::uint16_t>;

std::size_t byte_at(const std::string& text, std::size_t i) {
  return static_cast<unsigned char>(text.at(i));
}

// Reads a plane of `count` bytes at `at` and moves `at` behind it. Compares codewords bit by bit,
// as RFC 1951, section 3.2.2, numbers them.
std::vector<std::size_t> read_plane(const std::string& text, std::size_t& at, std::size_t count) {
  std::vector<std::size_t> values;
  const bool is_coded = byte_at(text, at++) == 1;
  if (!is_coded) {
    while (values.size() < count) values.push_back(byte_at(text, at++));
    return values;
  }
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < 128; ++i, ++at) {
    lengths.push_back(byte_at(text, at) >> 4);
    lengths.push_back(byte_at(text, at) & 15);
  }
  std::size_t bit = 8 * at;
  while (values.size() < count) {
    std::size_t word = 0, first = 0;
    for (std::size_t length = 1;; ++length) {
      REQUIRE(length <= 15);
      word = 2 * word + (byte_at(text, bit / 8) >> (7 - bit % 8) & 1);
      ++bit;
      const auto with_length =
          static_cast<std::size_t>(std::count(lengths.begin(), lengths.end(), length));
      if (word >= first && word < first + with_length) {
        std::size_t value = 0;
        for (std::size_t left = word - first;; ++value)
          if (lengths[value] == length && left-- == 0) break;
        values.push_back(value);
        break;
      }
      first = 2 * (first + with_length);
    }
  }
  at = (bit + 7) / 8;
  return values;
}

Codes unpacked(const std::string& text) {
  std::size_t count = 0, at = 4;
  for (std::size_t i = 0; i < 4; ++i) count += byte_at(text, i) << (8 * i);
  const std::vector<std::size_t> high = read_plane(text, at, count),
                                 low = read_plane(text, at, count);
  CHECK(at == text.size());
  Codes codes;
  for (std::size_t i = 0; i < count; ++i)
    codes.push_back(static_cast<std::uint16_t>(256 * high[i] + low[i]));
  return codes;
}

}  // namespace

TEST_CASE("packed codes decode to the same codes", "[page][page]") {
  Generator g(3);
  const Array normal = g.randn({4000}), uniform = g.rand({4000});
  Codes small, around_zero, any;
  for (std::size_t i = 0; i < 4000; ++i) {
    small.push_back(static_cast<std::uint16_t>(std::min(Real(65535), 300 * std::exp(normal(i)))));
    around_zero.push_back(static_cast<std::uint16_t>(32768 + 3000 * normal(i)));
    any.push_back(static_cast<std::uint16_t>(65535 * uniform(i)));
  }
  for (const Codes& codes : {Codes{}, Codes{7}, Codes(1000, 65535), small, around_zero, any})
    CHECK(unpacked(packed_codes(codes)) == codes);
  CHECK(packed_codes(small).size() < 6000);         // of 8000 bytes
  CHECK(packed_codes(any).size() == 8000 + 4 + 2);  // both planes as they are
  CHECK(packed_codes(Codes(1000, 65535)).size() == 4 + 2 * (1 + 128 + 125));  // a bit for each byte
}

TEST_CASE("a Huffman code has the shortest mean codeword, and no codeword over 15 bits",
          "[page][page]") {
  CHECK(code_lengths({5, 9, 12, 13, 16, 45}) == std::vector<std::size_t>{4, 4, 3, 3, 3, 1});
  CHECK(code_lengths({0, 3, 0}) == std::vector<std::size_t>{0, 1, 0});
  CHECK(code_lengths({0, 0}) == std::vector<std::size_t>{0, 0});
  std::vector<std::size_t> fibonacci = {1, 1};  // a tree as deep as possible
  while (fibonacci.size() < 40) fibonacci.push_back(fibonacci.back() + *(fibonacci.end() - 2));
  const std::vector<std::size_t> lengths = code_lengths(fibonacci);
  CHECK(*std::max_element(lengths.begin(), lengths.end()) <= 15);
  double used = 0;  // Kraft's sum
  for (const std::size_t length : lengths) used += std::pow(0.5, static_cast<double>(length));
  CHECK(used == 1.0);
}
