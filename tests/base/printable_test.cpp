// printable_test.cpp: decode_utf8 against the Unicode table, is_printable and escaped.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "heed/base/text.hpp"
#include "heed/base/utf8.hpp"

namespace {

using namespace heed;

struct Range {
  unsigned first, last;
  bool contains(unsigned byte) const { return first <= byte && byte <= last; }
};

// Table 3-7 of the Unicode Standard: the byte ranges of each kind of well-formed sequence.
const std::vector<std::vector<Range>> well_formed = {
    {{0x00, 0x7f}},
    {{0xc2, 0xdf}, {0x80, 0xbf}},
    {{0xe0, 0xe0}, {0xa0, 0xbf}, {0x80, 0xbf}},
    {{0xe1, 0xec}, {0x80, 0xbf}, {0x80, 0xbf}},
    {{0xed, 0xed}, {0x80, 0x9f}, {0x80, 0xbf}},
    {{0xee, 0xef}, {0x80, 0xbf}, {0x80, 0xbf}},
    {{0xf0, 0xf0}, {0x90, 0xbf}, {0x80, 0xbf}, {0x80, 0xbf}},
    {{0xf1, 0xf3}, {0x80, 0xbf}, {0x80, 0xbf}, {0x80, 0xbf}},
    {{0xf4, 0xf4}, {0x80, 0x8f}, {0x80, 0xbf}, {0x80, 0xbf}}};

bool starts_with(std::string_view text, const std::vector<Range>& row) {
  if (text.size() < row.size()) return false;
  for (std::size_t i = 0; i < row.size(); ++i)
    if (!row[i].contains(static_cast<unsigned char>(text[i]))) return false;
  return true;
}

std::size_t size_by_table(std::string_view text) {
  for (const auto& row : well_formed)
    if (starts_with(text, row)) return row.size();
  return 0;
}

std::string bytes(std::initializer_list<unsigned> values) {
  std::string text;
  for (const unsigned value : values) text += static_cast<char>(value);
  return text;
}

// The number of texts of 1 to 4 bytes for which decode_utf8 and the table disagree. Bytes 3 and 4
// are taken from `later`.
std::size_t differences(const std::vector<unsigned>& later) {
  std::size_t count = 0;
  const auto compare = [&](const std::string& text) {
    count += decode_utf8(text, 0).size != size_by_table(text);
  };
  for (unsigned a = 0; a < 256; ++a) {
    compare(bytes({a}));
    for (unsigned b = 0; b < 256; ++b) {
      compare(bytes({a, b}));
      for (const unsigned c : later) {
        compare(bytes({a, b, c}));
        for (const unsigned d : later) compare(bytes({a, b, c, d}));
      }
    }
  }
  return count;
}

}  // namespace

TEST_CASE("decode_utf8 accepts exactly the well-formed sequences of the Unicode table",
          "[base][utf8]") {
  CHECK(differences({0x00, 0x41, 0x7f, 0x80, 0xbf, 0xc0, 0xc3, 0xff}) == 0);
}

TEST_CASE("decode_utf8 returns size and code point, and size 0 inside a character",
          "[base][utf8]") {
  const std::string text = "h\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
  const std::vector<std::uint32_t> sizes = {1, 2, 0, 3, 0, 0, 4, 0, 0, 0};
  for (std::size_t i = 0; i < sizes.size(); ++i) CHECK(decode_utf8(text, i).size == sizes[i]);
  CHECK(decode_utf8(text, 0).code_point == 'h');
  CHECK(decode_utf8(text, 1).code_point == 0xe9);
  CHECK(decode_utf8(text, 3).code_point == 0x20ac);
  CHECK(decode_utf8(text, 6).code_point == 0x1f600);
  CHECK(decode_utf8(text, 2).code_point == 0);
}

TEST_CASE("decode_utf8 does not read past the end of a text", "[base][utf8]") {
  for (const std::string_view character : {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
    CHECK(decode_utf8(character, 0).size == character.size());
    for (std::size_t size = 1; size < character.size(); ++size)
      CHECK(decode_utf8(character.substr(0, size), 0).size == 0);
  }
}

TEST_CASE("is_printable is false for control, line break, directional and invisible code points",
          "[base][utf8]") {
  for (const std::uint32_t c :
       {0x20u, 0x7eu, 0xa0u, 0xe9u, 0x301u, 0x200cu, 0x200du, 0x2027u, 0x202fu, 0x1f600u})
    CHECK(is_printable(c));
  for (const std::uint32_t c :
       {0x0u, 0x1fu, 0x7fu, 0x9fu, 0x61cu, 0x200bu, 0x200eu, 0x200fu, 0x2028u, 0x2029u, 0x202au,
        0x202eu, 0x2066u, 0x2069u, 0xfeffu, 0xfffeu, 0xffffu})
    CHECK_FALSE(is_printable(c));
}

TEST_CASE("a name without visible characters is printable as what it consists of", "[base][utf8]") {
  CHECK(printable(" ") == "\u2423");
  CHECK(printable("  ") == "\u2423\u2423");
  CHECK(printable("\u200d") == "\\u200d");
  CHECK(printable("\ufe0f") == "\\ufe0f");
  CHECK(printable("\u00a0\u3000\n") == "\\xa0\\u3000\\n");
  CHECK(printable("\u2764\ufe0f\u200d\U0001f525") == "\u2764\ufe0f\u200d\U0001f525");
  CHECK(printable(" a") == " a");
  CHECK(printable("") == "");
}

TEST_CASE("escaped replaces code points that are not printable", "[base][utf8]") {
  CHECK(escaped("a\n\t\r\x1b") == R"(a\n\t\r\x1b)");
  CHECK(escaped("\U000e0041\u2060\u00ad") == R"(\U000e0041\u2060\xad)");
  CHECK(escaped_lines("a\n\t\r\x1b") == "a\n\t\\r\\x1b");
  CHECK(escaped("\xc2\x9b\xff\xc3") == R"(\x9b\xff\xc3)");
  CHECK(escaped("caf\xc3\xa9 \u202e\ufeff") ==
        "caf\xc3\xa9 "
        R"(\u202e\ufeff)");
}
