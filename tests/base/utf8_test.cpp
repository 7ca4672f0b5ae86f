// utf8_test.cpp: UTF-8 decoding, encoding and the error messages for invalid bytes.

#include "heed/base/utf8.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace {

using namespace heed;
using namespace std::string_literals;
using Points = std::vector<std::uint32_t>;

Points decoded(std::string_view text) {
  Points points;
  for_each_code_point(text, [&](std::uint32_t c) { points.push_back(c); });
  return points;
}

std::string invalid(std::size_t byte, const std::string& value) {
  return "not UTF-8: byte " + std::to_string(byte) + " is " + value +
         "; convert the text or use --bytes";
}

// The first byte of a text as error messages show it.
std::string hex(const std::string& text) {
  const auto byte = static_cast<unsigned char>(text[0]);
  return std::string("0x") + "0123456789abcdef"[byte / 16] + "0123456789abcdef"[byte % 16];
}

std::string cut_off(std::size_t byte, const std::string& value) {
  return "not UTF-8: the text ends inside the character that begins at byte " +
         std::to_string(byte) + " (" + value + "); convert the text or use --bytes";
}

}  // namespace

TEST_CASE("characters of one to four bytes are decoded", "[base][utf8]") {
  CHECK(decoded("") == Points{});
  CHECK(decoded("a\n~") == Points{'a', '\n', '~'});
  CHECK(decoded("a\0b"s) == Points{'a', 0, 'b'});
  CHECK(decoded("h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80") ==
        Points{'h', 0xe9, ' ', 0x20ac, ' ', 0x1f600});
}

TEST_CASE("every code point is the same after encoding and decoding", "[base][utf8]") {
  std::string text;
  Points expected;
  for (std::uint32_t c = 0; c <= last_code_point; ++c) {
    if (!is_code_point(c)) continue;
    append_utf8(text, c);
    expected.push_back(c);
  }
  CHECK(expected.size() == 0x110000 - 0x800);
  CHECK(text.size() == 0x80 + 2 * 0x780 + 3 * (0xf800 - 0x800) + 4 * 0x100000);
  CHECK(count_code_points(text) == expected.size());
  CHECK((decoded(text) == expected));  // extra parentheses: a failure does not print them all
}

TEST_CASE("the first and last code points of each length are decoded", "[base][utf8]") {
  CHECK(decoded("\x7f\xc2\x80") == Points{0x7f, 0x80});
  CHECK(decoded("\xdf\xbf\xe0\xa0\x80") == Points{0x7ff, 0x800});
  CHECK(decoded("\xed\x9f\xbf\xee\x80\x80") == Points{0xd7ff, 0xe000});
  CHECK(decoded("\xef\xbf\xbf\xf0\x90\x80\x80") == Points{0xffff, 0x10000});
  CHECK(decoded("\xf4\x8f\xbf\xbf") == Points{0x10ffff});
}

TEST_CASE("the error for an invalid byte gives its offset and value", "[base][utf8]") {
  CHECK_THROWS_WITH(decoded("caf\xe9 "), invalid(3, "0xe9"));  // Latin-1
  CHECK_THROWS_WITH(decoded("\x80"), invalid(0, "0x80"));  // a continuation byte without a start
  CHECK_THROWS_WITH(decoded("ab\xbf"), invalid(2, "0xbf"));
  CHECK_THROWS_WITH(decoded("\xf5\x80\x80\x80"), invalid(0, "0xf5"));
  CHECK_THROWS_WITH(decoded("a\xff"), invalid(1, "0xff"));
}

TEST_CASE("overlong forms throw", "[base][utf8]") {
  CHECK_THROWS_WITH(decoded("\xc0\x80"), invalid(0, "0xc0"));
  CHECK_THROWS_WITH(decoded("\xc1\xbf"), invalid(0, "0xc1"));
  CHECK_THROWS_WITH(decoded("\xe0\x9f\xbf"), invalid(0, "0xe0"));
  CHECK_THROWS_WITH(decoded("\xf0\x8f\xbf\xbf"), invalid(0, "0xf0"));
}

TEST_CASE("surrogates and code points above U+10FFFF throw", "[base][utf8]") {
  CHECK_THROWS_WITH(decoded("a\xed\xa0\x80"), invalid(1, "0xed"));
  CHECK_THROWS_WITH(decoded("\xed\xbf\xbf"), invalid(0, "0xed"));
  CHECK_THROWS_WITH(decoded("\xf4\x90\x80\x80"), invalid(0, "0xf4"));
}

TEST_CASE("the error for a missing continuation byte gives the character's first byte",
          "[base][utf8]") {
  CHECK_THROWS_WITH(decoded("\xc3("), invalid(0, "0xc3"));
  CHECK_THROWS_WITH(decoded("x\xe2\x82("), invalid(1, "0xe2"));
  CHECK_THROWS_WITH(decoded("\xf0\x9f\x98\xc3\xa9"), invalid(0, "0xf0"));
}

TEST_CASE("a text that ends inside a character has its own error message", "[base][utf8]") {
  CHECK_THROWS_WITH(decoded("caf\xc3"), cut_off(3, "0xc3"));
  CHECK_THROWS_WITH(decoded("\xe2\x82"), cut_off(0, "0xe2"));
  CHECK_THROWS_WITH(decoded("ab\xf0\x9f\x98"), cut_off(2, "0xf0"));
}

// for_each_code_point handles 16 ASCII bytes at a time, so other characters are tested at each
// offset.
TEST_CASE("a character of any size is decoded at every offset of a text", "[base][utf8]") {
  for (const std::uint32_t c : {0u, 0x7fu, 0x80u, 0x7ffu, 0x800u, 0xffffu, 0x10000u, 0x10ffffu})
    for (std::size_t before = 0; before < 40; ++before)
      for (std::size_t after = 0; after < 40; ++after) {
        std::string text(before, 'a');
        append_utf8(text, c);
        text.append(after, 'b');
        Points expected(before, 'a');
        expected.push_back(c);
        expected.insert(expected.end(), after, 'b');
        REQUIRE(decoded(text) == expected);
        REQUIRE(count_code_points(text) == expected.size());
      }
}

TEST_CASE("invalid UTF-8 is reported with its offset at every offset of a text", "[base][utf8]") {
  for (const std::string& part : {"\0"s, "a"s, "\xc3\xa9"s, "\xe2\x82\xac"s})
    for (std::size_t count = 0; count < 40; ++count) {
      std::string before;
      for (std::size_t i = 0; i < count; ++i) before += part;
      const std::size_t offset = before.size();
      for (const std::string& rest : {""s, "b"s, std::string(32, 'b'), std::string(32, '\0')}) {
        CHECK_THROWS_WITH(decoded(before + "\xff" + rest), invalid(offset, "0xff"));
        CHECK_THROWS_WITH(decoded(before + "\x80" + rest), invalid(offset, "0x80"));
        CHECK_THROWS_WITH(decoded(before + "\xed\xa0\x80" + rest), invalid(offset, "0xed"));
        CHECK_THROWS_WITH(decoded(before + "\xe2\x82(" + rest), invalid(offset, "0xe2"));
      }
      CHECK_THROWS_WITH(decoded(before + "\xc3"), cut_off(offset, "0xc3"));
      CHECK_THROWS_WITH(decoded(before + "\xf0\x9f\x98"), cut_off(offset, "0xf0"));
    }
}

TEST_CASE("a text that no further byte makes valid is reported as invalid, not as cut off",
          "[base][utf8]") {
  for (const std::string incomplete : {"\xe0", "\xe0\xa0", "\xed", "\xed\x9f", "\xf0", "\xf0\x90",
                                       "\xf4", "\xf4\x8f", "\xf4\x8f\xbf", "\xf1\x80\x80"})
    CHECK_THROWS_WITH(decoded(incomplete), cut_off(0, hex(incomplete)));
  for (const std::string bad :
       {"\xc1", "\xe0\x9f", "\xed\xa0", "\xf0\x8f", "\xf4\x90", "\xf5", "\xe2(", "\xf1\x80("})
    CHECK_THROWS_WITH(decoded(bad), invalid(0, hex(bad)));
}

TEST_CASE("append_utf8 rejects surrogates and code points above U+10FFFF", "[base][utf8]") {
  std::string text = "a";
  CHECK_THROWS_WITH(append_utf8(text, 0xd800),
                    "append_utf8: 55296 is not a code point that UTF-8 can encode");
  CHECK_THROWS_AS(append_utf8(text, 0x110000), Error);
  CHECK(text == "a");
}

TEST_CASE("in_quotes escapes a text and cuts it after 80 bytes", "[base][utf8]") {
  CHECK(in_quotes("") == "''");
  CHECK(in_quotes("a\nb") == "'a\\nb'");
  CHECK(in_quotes("caf\xc3\xa9") == "'caf\xc3\xa9'");
  CHECK(in_quotes("caf\xc3") == "'caf\\xc3'");
  CHECK(in_quotes(std::string(80, 'x')) == "'" + std::string(80, 'x') + "'");
  CHECK(in_quotes(std::string(81, 'x')) == "'" + std::string(80, 'x') + "...'");
}
