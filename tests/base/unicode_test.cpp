// unicode_test.cpp: properties of code points, lower case and normalization.

#include "base/unicode.hpp"

#include <string>

#include "catch.hpp"
#include "message_of.hpp"

namespace heed::test {

namespace {

// All code points below 0x110000 with a property.
template <class Property>
std::u32string all_with(const Property& property) {
  std::u32string found;
  for (char32_t c = 0; c < 0x110000; ++c)
    if (property(c)) found += c;
  return found;
}

std::string lower(const std::string& text) { return utf8_of(lower_case(code_points_of(text))); }
std::u32string nfd(std::u32string_view text) { return decomposed(text); }

}  // namespace

TEST_CASE("exactly 25 code points are white space", "[base][unicode]") {
  CHECK(all_with(is_white_space) ==
        U"\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
        U"\u200a\u2028\u2029\u202f\u205f\u3000");
}

TEST_CASE("categories tell letters, numbers, punctuation and marks apart", "[base][unicode]") {
  for (const char32_t c : U"aZéßλЖא中가ǅʰ") CHECK((c == 0 || is_letter(c)));
  for (const char32_t c : U"19²½Ⅷ٣") CHECK((c == 0 || (is_number(c) && !is_letter(c))));
  for (const char32_t c : U"!_-()«»。…") CHECK((c == 0 || is_punctuation(c)));
  for (const char32_t c : U"$+<>^`|~€") CHECK_FALSE((c != 0 && is_punctuation(c)));
  CHECK(is_nonspacing_mark(0x301));
  CHECK_FALSE(is_nonspacing_mark(0x903));   // Mc, a spacing mark
  CHECK_FALSE(is_nonspacing_mark(0x20dd));  // Me, an enclosing mark
  CHECK(is_control_character(0x85));
  CHECK(is_format_character(0xfeff));
  CHECK(is_private_use(0xe000));
  CHECK_FALSE(is_control_character(0x378));  // not assigned
}

TEST_CASE("surrogates and values above U+10FFFF have no properties", "[base][unicode]") {
  for (const char32_t c : {0xd800u, 0xdfffu, 0x110000u, 0xffffffffu}) {
    const auto value = static_cast<char32_t>(c);
    CHECK_FALSE((is_letter(value) || is_number(value) || is_punctuation(value)));
    CHECK_FALSE((is_white_space(value) || is_nonspacing_mark(value) || is_private_use(value)));
    CHECK_FALSE((is_control_character(value) || is_format_character(value)));
  }
}

TEST_CASE("lower case changes capital letters and nothing else", "[base][unicode]") {
  CHECK(lower("Hello, WORLD 12") == "hello, world 12");
  CHECK(lower("ÀÉ Straße МОСКВА ǅ Ⅷ Ⓐ") == "àé straße москва ǆ ⅷ ⓐ");
  CHECK(lower("İI") == "i\u0307i");
  CHECK(lower("") == "");
}

TEST_CASE("a sigma at the end of a word has its final form", "[base][unicode]") {
  CHECK(lower("ΟΔΟΣ ΣΟΦΟΣ") == "οδος σοφος");
  CHECK(lower("Σ") == "σ");                // no letter before it
  CHECK(lower("ΟΣ. ΟΣ'Ο") == "ος. οσ'ο");  // apostrophes and full stops are skipped
  CHECK(lower("ΟΣ\u0301 ΟΣ\u0301Α") == "ος\u0301 οσ\u0301α");
  CHECK(lower("ΟΣΣ ΟΣ-Ο ΟΣ1") == "οσς ος-ο ος1");
  CHECK(lower("ⒶΣ ªΣ 1Σ A\u00adΣ") == "ⓐς ªς 1σ a\u00adς");
}

TEST_CASE("decomposition splits letters and sorts their marks", "[base][unicode]") {
  CHECK(nfd(U"é") == U"e\u0301");
  CHECK(nfd(U"ṩ") == U"s\u0323\u0307");
  CHECK(nfd(U"s\u0307\u0323") == U"s\u0323\u0307");
  CHECK(nfd(U"한국") == U"\u1112\u1161\u11ab\u1100\u116e\u11a8");
  CHECK(nfd(U"\u212b \u037e \ufb01") == U"A\u030a ; \ufb01");  // a ligature is not canonical
  CHECK(nfd(U"a\u0301\u0301\u0323b\u0307\u0323") == U"a\u0323\u0301\u0301b\u0323\u0307");
  CHECK(nfd(U"") == U"");
}

TEST_CASE("every decomposition is a fixed point", "[base][unicode]") {
  const std::u32string all = all_with([](char32_t c) { return c < 0xd800 || c > 0xdfff; });
  std::size_t changed = 0, twice = 0;
  for (const char32_t c : all) {
    const std::u32string once = decomposed({&c, 1});
    changed += once != std::u32string(1, c);
    twice += decomposed(once) != once;
  }
  CHECK(changed > 13000);
  CHECK(twice == 0);
}

TEST_CASE("composition is that of Normalization Form C", "[base][unicode]") {
  CHECK(composed("cafe\u0301 caf\u00e9") == "caf\u00e9 caf\u00e9");
  CHECK(composed("\u212b \u037e \ufb01") == "\u00c5 ; \ufb01");
  CHECK(composed("\u1112\u1161\u11ab") == "\ud55c");
  CHECK(composed("\uac00\u11a8") == "\uac01");
  CHECK(composed("s\u0307\u0323") == "\u1e69");  // the dot below comes first
  CHECK(composed("a\u0315\u0300\u05ae\u0301b") == "\u00e0\u05ae\u0301\u0315b");
  CHECK(composed("\u0958") == "\u0915\u093c");  // a composition exclusion
  CHECK(composed("\u0344 \u0301\u0301") == "\u0308\u0301 \u0301\u0301");
  CHECK(composed("\u09c7\u09be \u09c7 \u09be") == "\u09cb \u09c7 \u09be");  // two starters
  CHECK(composed("") == "");
  CHECK(message_of([] { composed("a\xff"); }).rfind("not UTF-8: byte 1 is 0xff", 0) == 0);
  std::size_t twice = 0;
  for (const char32_t c : all_with([](char32_t x) { return x < 0xd800 || x > 0xdfff; })) {
    const std::string once = composed(utf8_of({&c, 1}));
    twice += composed(once) != once || decomposed(code_points_of(once)) != decomposed({&c, 1});
  }
  CHECK(twice == 0);
}

TEST_CASE("code_points_of rejects what is not UTF-8", "[base][unicode]") {
  CHECK(code_points_of("aé😀") == U"aé😀");
  CHECK(utf8_of(U"aé😀") == "aé😀");
  CHECK(message_of([] { code_points_of("a\xff"); }) ==
        "not UTF-8: byte 1 is 0xff; convert the text or use --bytes");
  CHECK(message_of([] { utf8_of(std::u32string(1, char32_t{0xd800})); }) ==
        "append_utf8: 55296 is not a code point that UTF-8 can encode");
}

}  // namespace heed::test
