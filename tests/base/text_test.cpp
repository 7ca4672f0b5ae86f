// text_test.cpp: number formats in every locale, escaping, splitting and terminal width.

#include "heed/base/text.hpp"

#include <limits>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "foreign_locale.hpp"

using namespace heed;

TEST_CASE("decimal rounds, and zero has no sign", "[base][format]") {
  CHECK(decimal(0.12345, 4) == "0.1235");
  CHECK(decimal(-1.5, 4) == "-1.5000");
  CHECK(decimal(-0.00001, 4) == "0.0000");
  CHECK(decimal(2, 0) == "2");
  CHECK(scientific(2.5e-7, 4) == "2.5000e-07");
  CHECK(significant(2.5e-7, 4) == "2.5e-07");
  CHECK(significant(0.5, 4) == "0.5");
}

TEST_CASE("nonfinite numbers are formatted as nan, inf and -inf", "[base][format]") {
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(decimal(std::numeric_limits<double>::quiet_NaN(), 4) == "nan");
  CHECK(decimal(infinity, 4) == "inf");
  CHECK(decimal(-infinity, 4) == "-inf");
  CHECK(scientific(-infinity, 4) == "-inf");
  CHECK(grouped(infinity) == "inf");
}

TEST_CASE("number formats do not depend on the locale", "[base][format]") {
  const heed_test::ForeignLocale locale;
  CHECK(decimal(18400.5, 4) == "18400.5000");
  CHECK(grouped(18400.0) == "18,400");
}

TEST_CASE("grouped adds thousands separators", "[base][format]") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(18399.6) == "18,400");
  CHECK(grouped(1234567) == "1,234,567");
  CHECK(grouped(-123456) == "-123,456");
}

TEST_CASE("duration uses minutes, hours or days", "[base][format]") {
  CHECK(duration(0) == "0:00");
  CHECK(duration(7) == "0:07");
  CHECK(duration(72) == "1:12");
  CHECK(duration(3599.4) == "59:59");
  CHECK(duration(3599.6) == "1 h 00 min");
  CHECK(duration(7500) == "2 h 05 min");
  CHECK(duration(273600) == "3 d 04 h");
  CHECK(duration(-1) == "?");
  CHECK(duration(std::numeric_limits<double>::infinity()) == "?");
  CHECK(duration(std::numeric_limits<double>::quiet_NaN()) == "?");
}

TEST_CASE("printable escapes control characters and invalid UTF-8", "[base][format]") {
  CHECK(printable("door") == "door");
  CHECK(printable("\n") == "\\n");
  CHECK(printable("a\tb\r") == "a\\tb\\r");
  CHECK(printable(" ") == "␣");
  CHECK(printable("a b") == "a b");
  CHECK(printable("\x1b[31m") == "\\x1b[31m");
  CHECK(printable("\xff") == "\\xff");
  CHECK(printable("\xc3") == "\\xc3");
  CHECK(printable("\xc2\x9b") == "\\x9b");                // starts a terminal command (CSI)
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // a surrogate is not valid
  CHECK(printable("é魚") == "é魚");
}

TEST_CASE("printable escapes line separators, directional marks and invisible characters",
          "[base][format]") {
  CHECK(printable("a\u202eb") == "a\\u202eb");
  CHECK(printable("\u2028") == "\\u2028");
  CHECK(printable("\u2029") == "\\u2029");
  CHECK(printable("\u2066\u2069") == "\\u2066\\u2069");
  CHECK(printable("\u200b") == "\\u200b");
  CHECK(printable("\u200f") == "\\u200f");
  CHECK(printable("\ufeff") == "\\ufeff");
}

TEST_CASE("printable keeps combining marks and joined emoji", "[base][format]") {
  CHECK(printable("e\u0301") == "e\u0301");
  CHECK(printable("\U0001f469\u200d\U0001f4bb") == "\U0001f469\u200d\U0001f4bb");
  CHECK(printable("\u2764\ufe0f") == "\u2764\ufe0f");
}

TEST_CASE("display_width counts terminal columns, not bytes", "[base][format]") {
  CHECK(display_width("door") == 4);
  CHECK(display_width("Tür") == 3);
  CHECK(display_width("魚") == 2);
  CHECK(display_width("e\xcc\x81") == 1);  // e and a combining accent
  CHECK(pad_left("Tür", 5) == "  Tür");
  CHECK(pad_right("魚", 4) == "魚  ");
  CHECK(pad_left("longer", 3) == "longer");
  CHECK(truncated("watching", 5) == "watc…");
  CHECK(truncated("魚魚魚", 4) == "魚…");
  CHECK(truncated("door", 4) == "door");
}

TEST_CASE("words_of splits at any white space", "[base][format]") {
  using Words = std::vector<std::string_view>;
  CHECK(words_of(" the cat\tsat\r\n\v on\f\n") == Words{"the", "cat", "sat", "on"});
  CHECK(words_of("cat") == Words{"cat"});
  CHECK(words_of(" \n").empty());
  CHECK(words_of("").empty());
}
