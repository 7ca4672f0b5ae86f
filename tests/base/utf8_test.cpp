// utf8_test.cpp: every code point survives; everything else is refused where it stands.

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

// A text's first byte as messages show it.
std::string hex(const std::string& text) {
  const auto byte = static_cast<unsigned char>(text[0]);
  return std::string("0x") + "0123456789abcdef"[byte / 16] + "0123456789abcdef"[byte % 16];
}

std::string cut_off(std::size_t byte, const std::string& value) {
  return "not UTF-8: the text ends inside the character that begins at byte " +
         std::to_string(byte) + " (" + value + "); convert the text or use --bytes";
}

}  // namespace

TEST_CASE("characters of one to four bytes are read", "[base][utf8]") {
  CHECK(decoded("") == Points{});
  CHECK(decoded("a\n~") == Points{'a', '\n', '~'});
  CHECK(decoded("a\0b"s) == Points{'a', 0, 'b'});
  CHECK(decoded("h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80") ==
        Points{'h', 0xe9, ' ', 0x20ac, ' ', 0x1f600});
}

TEST_CASE("every code point survives being written and read", "[base][utf8]") {
  std::string text;
  Points wanted;
  for (std::uint32_t c = 0; c <= last_code_point; ++c) {
    if (!is_code_point(c)) continue;
    append_utf8(text, c);
    wanted.push_back(c);
  }
  CHECK(wanted.size() == 0x110000 - 0x800);
  CHECK(text.size() == 0x80 + 2 * 0x780 + 3 * (0xf800 - 0x800) + 4 * 0x100000);
  CHECK(count_code_points(text) == wanted.size());
  CHECK((decoded(text) == wanted));  // in brackets, so that a failure does not print a million
}

TEST_CASE("the first and last of each length are read", "[base][utf8]") {
  CHECK(decoded("\x7f\xc2\x80") == Points{0x7f, 0x80});
  CHECK(decoded("\xdf\xbf\xe0\xa0\x80") == Points{0x7ff, 0x800});
  CHECK(decoded("\xed\x9f\xbf\xee\x80\x80") == Points{0xd7ff, 0xe000});
  CHECK(decoded("\xef\xbf\xbf\xf0\x90\x80\x80") == Points{0xffff, 0x10000});
  CHECK(decoded("\xf4\x8f\xbf\xbf") == Points{0x10ffff});
}

TEST_CASE("a byte that begins no character is named with its place and value", "[base][utf8]") {
  CHECK_THROWS_WITH(decoded("caf\xe9 "), invalid(3, "0xe9"));  // Latin-1
  CHECK_THROWS_WITH(decoded("\x80"), invalid(0, "0x80"));      // a continuation out of place
  CHECK_THROWS_WITH(decoded("ab\xbf"), invalid(2, "0xbf"));
  CHECK_THROWS_WITH(decoded("\xf5\x80\x80\x80"), invalid(0, "0xf5"));
  CHECK_THROWS_WITH(decoded("a\xff"), invalid(1, "0xff"));
}

TEST_CASE("overlong forms are refused", "[base][utf8]") {
  CHECK_THROWS_WITH(decoded("\xc0\x80"), invalid(0, "0xc0"));
  CHECK_THROWS_WITH(decoded("\xc1\xbf"), invalid(0, "0xc1"));
  CHECK_THROWS_WITH(decoded("\xe0\x9f\xbf"), invalid(0, "0xe0"));
  CHECK_THROWS_WITH(decoded("\xf0\x8f\xbf\xbf"), invalid(0, "0xf0"));
}

TEST_CASE("surrogates and numbers above U+10FFFF are refused", "[base][utf8]") {
  CHECK_THROWS_WITH(decoded("a\xed\xa0\x80"), invalid(1, "0xed"));
  CHECK_THROWS_WITH(decoded("\xed\xbf\xbf"), invalid(0, "0xed"));
  CHECK_THROWS_WITH(decoded("\xf4\x90\x80\x80"), invalid(0, "0xf4"));
}

TEST_CASE("a character without its continuation is refused where it begins", "[base][utf8]") {
  CHECK_THROWS_WITH(decoded("\xc3("), invalid(0, "0xc3"));
  CHECK_THROWS_WITH(decoded("x\xe2\x82("), invalid(1, "0xe2"));
  CHECK_THROWS_WITH(decoded("\xf0\x9f\x98\xc3\xa9"), invalid(0, "0xf0"));
}

TEST_CASE("a text that ends inside a character says so", "[base][utf8]") {
  CHECK_THROWS_WITH(decoded("caf\xc3"), cut_off(3, "0xc3"));
  CHECK_THROWS_WITH(decoded("\xe2\x82"), cut_off(0, "0xe2"));
  CHECK_THROWS_WITH(decoded("ab\xf0\x9f\x98"), cut_off(2, "0xf0"));
}

// Characters of one byte are taken several at a time: what is different must be seen wherever it
// is.
TEST_CASE("a character of any size is read at every place of a text", "[base][utf8]") {
  for (const std::uint32_t c : {0u, 0x7fu, 0x80u, 0x7ffu, 0x800u, 0xffffu, 0x10000u, 0x10ffffu})
    for (std::size_t before = 0; before < 40; ++before)
      for (std::size_t after = 0; after < 40; ++after) {
        std::string text(before, 'a');
        append_utf8(text, c);
        text.append(after, 'b');
        Points wanted(before, 'a');
        wanted.push_back(c);
        wanted.insert(wanted.end(), after, 'b');
        REQUIRE(decoded(text) == wanted);
        REQUIRE(count_code_points(text) == wanted.size());
      }
}

TEST_CASE("what is not UTF-8 is named with its byte at every place of a text", "[base][utf8]") {
  for (const std::string& part : {"\0"s, "a"s, "\xc3\xa9"s, "\xe2\x82\xac"s})
    for (std::size_t count = 0; count < 40; ++count) {
      std::string before;
      for (std::size_t i = 0; i < count; ++i) before += part;
      const std::size_t place = before.size();
      for (const std::string& rest : {""s, "b"s, std::string(32, 'b'), std::string(32, '\0')}) {
        CHECK_THROWS_WITH(decoded(before + "\xff" + rest), invalid(place, "0xff"));
        CHECK_THROWS_WITH(decoded(before + "\x80" + rest), invalid(place, "0x80"));
        CHECK_THROWS_WITH(decoded(before + "\xed\xa0\x80" + rest), invalid(place, "0xed"));
        CHECK_THROWS_WITH(decoded(before + "\xe2\x82(" + rest), invalid(place, "0xe2"));
      }
      CHECK_THROWS_WITH(decoded(before + "\xc3"), cut_off(place, "0xc3"));
      CHECK_THROWS_WITH(decoded(before + "\xf0\x9f\x98"), cut_off(place, "0xf0"));
    }
}

TEST_CASE("an end that no byte could make a character is not called an end", "[base][utf8]") {
  for (const std::string cut : {"\xe0", "\xe0\xa0", "\xed", "\xed\x9f", "\xf0", "\xf0\x90", "\xf4",
                                "\xf4\x8f", "\xf4\x8f\xbf", "\xf1\x80\x80"})
    CHECK_THROWS_WITH(decoded(cut), cut_off(0, hex(cut)));
  for (const std::string bad :
       {"\xc1", "\xe0\x9f", "\xed\xa0", "\xf0\x8f", "\xf4\x90", "\xf5", "\xe2(", "\xf1\x80("})
    CHECK_THROWS_WITH(decoded(bad), invalid(0, hex(bad)));
}

TEST_CASE("what is no code point cannot be written", "[base][utf8]") {
  std::string text = "a";
  CHECK_THROWS_WITH(append_utf8(text, 0xd800),
                    "append_utf8: 55296 is not a code point; UTF-8 has no form for it");
  CHECK_THROWS_AS(append_utf8(text, 0x110000), Error);
  CHECK(text == "a");
}

TEST_CASE("a text is quoted on one line, and cut where it is long", "[base][utf8]") {
  CHECK(in_quotes("") == "''");
  CHECK(in_quotes("a\nb") == "'a\\nb'");
  CHECK(in_quotes("caf\xc3\xa9") == "'caf\xc3\xa9'");
  CHECK(in_quotes("caf\xc3") == "'caf\\xc3'");
  CHECK(in_quotes(std::string(80, 'x')) == "'" + std::string(80, 'x') + "'");
  CHECK(in_quotes(std::string(81, 'x')) == "'" + std::string(80, 'x') + "...'");
}
