// vocabulary_test.cpp: building vocabularies, encoding, decoding and error messages.

#include "heed/text/vocabulary.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "catch.hpp"
#include "heed/base/error.hpp"
#include "heed/base/utf8.hpp"

namespace {

using namespace heed;
using namespace std::string_literals;
using TokenIds = std::vector<std::int64_t>;
using Values = std::vector<std::uint32_t>;

const std::string umlauts =
    "\xc3\xbc"
    "ber, \xc3\xbc";  // "über, ü"

}  // namespace

TEST_CASE("a vocabulary is the sorted distinct characters of a text", "[text][vocabulary]") {
  const Vocabulary v = Vocabulary::of_text("hello\n");
  CHECK(v.unit() == Unit::code_point);
  CHECK(v.size() == 5);
  CHECK(v.characters() == Values{'\n', 'e', 'h', 'l', 'o'});
  CHECK(v.encode("hello\n") == TokenIds{2, 1, 3, 3, 4, 0});
  CHECK(v.decode(TokenIds{2, 1, 3, 3, 4, 0}) == "hello\n");
  CHECK(v.decode(4) == "o");
}

TEST_CASE("a character of several bytes is one token", "[text][vocabulary]") {
  const Vocabulary v = Vocabulary::of_text(umlauts);
  CHECK(v.characters() == Values{' ', ',', 'b', 'e', 'r', 0xfc});
  CHECK(v.encode("\xc3\xbc") == TokenIds{5});
  CHECK(v.decode(5) == "\xc3\xbc");
  CHECK(v.decode(v.encode(umlauts)) == umlauts);
}

TEST_CASE("a byte vocabulary encodes any binary data", "[text][vocabulary]") {
  const std::string binary = "\xff\x00\xc3\xff"s;
  const Vocabulary v = Vocabulary::of_text(binary, Unit::byte);
  CHECK(v.unit() == Unit::byte);
  CHECK(v.characters() == Values{0x00, 0xc3, 0xff});
  CHECK(v.encode(binary) == TokenIds{2, 0, 1, 2});
  CHECK(v.decode(v.encode(binary)) == binary);
  CHECK(Vocabulary::of_text(umlauts, Unit::byte).size() == 7);
}

TEST_CASE("a text with every code point is the same after encoding and decoding",
          "[text][vocabulary]") {
  std::string text;
  for (std::uint32_t c = last_code_point + 1; c-- > 0;)
    if (is_code_point(c)) append_utf8(text, c);
  const Vocabulary v = Vocabulary::of_text(text);
  CHECK(v.size() == 0x110000 - 0x800);
  CHECK((v.decode(v.encode(text)) == text));
}

TEST_CASE("an empty text has an empty vocabulary", "[text][vocabulary]") {
  const Vocabulary v = Vocabulary::of_text("");
  CHECK(v.size() == 0);
  CHECK(v.encode("") == TokenIds{});
  CHECK(v.decode(TokenIds{}).empty());
  CHECK_THROWS_AS(v.encode("a"), Error);
}

TEST_CASE("invalid UTF-8 throws for characters but not for bytes", "[text][vocabulary]") {
  CHECK_THROWS_WITH(Vocabulary::of_text("caf\xe9 "),
                    "not UTF-8: byte 3 is 0xe9; convert the text or use --bytes");
  CHECK(Vocabulary::of_text("caf\xe9 ", Unit::byte).size() == 5);
}

TEST_CASE("the error for an unknown token names the first one", "[text][vocabulary]") {
  const std::string reason = " is not in the vocabulary; use only tokens of the training text";
  const Vocabulary v = Vocabulary::of_text("abc");
  CHECK_THROWS_WITH(v.encode("abxy"), "'x' (U+0078)" + reason);
  CHECK_THROWS_WITH(v.encode("a\xc3\xa9"), "'\xc3\xa9' (U+00E9)" + reason);
  CHECK_THROWS_WITH(v.encode("\xf0\x9f\x98\x80"), "'\xf0\x9f\x98\x80' (U+1F600)" + reason);
  CHECK_THROWS_WITH(v.encode("a\nb"), "U+000A" + reason);          // would break the line
  CHECK_THROWS_WITH(v.encode("\xe2\x80\xae"), "U+202E" + reason);  // changes the writing direction
  CHECK_THROWS_WITH(v.encode("\ufeff"), "U+FEFF" + reason);        // is invisible
  CHECK_THROWS_WITH(Vocabulary::of_text("abc", Unit::byte).encode("a\xe9"), "byte 0xe9" + reason);
  CHECK_THROWS_AS(v.encode("a\xff"), Error);
}

TEST_CASE("the error for an unknown token says if the text has it in another Unicode form",
          "[text][vocabulary]") {
  const Vocabulary decomposed = Vocabulary::of_text("cafe\u0301");
  CHECK_THROWS_WITH(
      decomposed.encode("caf\u00e9"),
      "'\u00e9' (U+00E9) is not in the vocabulary; the training text has it "
      "decomposed (NFD), as 'e' (U+0065) and '\u0301' (U+0301); uconv -x nfd converts "
      "a text");
  CHECK_THROWS_WITH(decomposed.encode("\u00e8"),  // the text has no U+0300
                    "'\u00e8' (U+00E8) is not in the vocabulary; use only tokens of the training "
                    "text");
  const Vocabulary composed = Vocabulary::of_text("caf\u00e9 e");
  CHECK_THROWS_WITH(composed.encode("cafe\u0301"),
                    "'\u0301' (U+0301) is not in the vocabulary; the training text has composed "
                    "characters (NFC), such as '\u00e9' (U+00E9); uconv -x nfc converts a text");
  CHECK_THROWS_WITH(Vocabulary::from_words("caf\u00e9").encode("cafe\u0301"),
                    "'cafe\u0301' is not in the vocabulary; the training text has it in another "
                    "Unicode form; uconv -x nfc or uconv -x nfd converts a text");
}

TEST_CASE("find returns -1 for an unknown token", "[text][vocabulary]") {
  const Vocabulary v = Vocabulary::of_text("ac");
  CHECK(v.find('a') == 0);
  CHECK(v.find('b') == -1);
  CHECK(v.find('c') == 1);
  CHECK(v.find(0xffffffff) == -1);
}

TEST_CASE("only the vocabularies of pretrained models are made of files", "[text][vocabulary]") {
  const std::string needed =
      "; byte-level BPE needs vocab.json and merges.txt, WordPiece needs vocab.txt, "
      "SentencePiece one file";
  for (const Unit unit : {Unit::code_point, Unit::byte, Unit::byte_pair, Unit::word})
    CHECK_THROWS_WITH(Vocabulary::from_files(unit, {"[UNK]\na\n"}, {"vocab.txt"}),
                      "vocabulary: 1 files, 1 names" + needed);
  CHECK_THROWS_WITH(Vocabulary::from_files(Unit::word_piece, {"[UNK]\n", ""}, {"vocab.txt", "b"}),
                    "vocabulary: 2 files, 2 names" + needed);
}

TEST_CASE("decode throws for an id out of range", "[text][vocabulary]") {
  const Vocabulary v = Vocabulary::of_text("abc");
  CHECK_THROWS_WITH(v.decode(TokenIds{0, 3}), "decode: id 3 is not in the vocabulary of 3 tokens");
  CHECK_THROWS_WITH(v.decode(-1), "decode: id -1 is not in the vocabulary of 3 tokens");
}

TEST_CASE("a vocabulary can be rebuilt from its unit and symbols()", "[text][vocabulary]") {
  for (const Unit unit : {Unit::code_point, Unit::byte}) {
    const Vocabulary v = Vocabulary::of_text(umlauts, unit);
    const Vocabulary rebuilt(v.unit(), v.characters());
    CHECK(rebuilt == v);
    CHECK(rebuilt.encode(umlauts) == v.encode(umlauts));
  }
  CHECK(Vocabulary::of_text("ab") != Vocabulary::of_text("abc"));
  CHECK(Vocabulary::of_text("ab") != Vocabulary::of_text("ab", Unit::byte));
}

TEST_CASE("invalid or unsorted code points and bytes throw", "[text][vocabulary]") {
  const auto make = [](Unit unit, const Values& values) { return Vocabulary(unit, values); };
  CHECK_THROWS_WITH(make(Unit::code_point, {98, 97}),
                    "vocabulary: token 1 is 97 after 98; tokens must be sorted and distinct");
  CHECK_THROWS_WITH(make(Unit::code_point, {97, 97}),
                    "vocabulary: token 1 is 97 after 97; tokens must be sorted and distinct");
  CHECK_THROWS_WITH(make(Unit::code_point, {97, 0xd800}),
                    "vocabulary: token 1 is 55296, which is not a Unicode code point");
  CHECK_THROWS_WITH(make(Unit::code_point, {0x110000}),
                    "vocabulary: token 0 is 1114112, which is not a Unicode code point");
  CHECK_THROWS_WITH(make(Unit::byte, {97, 256}),
                    "vocabulary: token 1 is 256, which is not a byte; give 0 to 255");
}

TEST_CASE("a word vocabulary splits at any white space", "[text][vocabulary]") {
  const Vocabulary v = Vocabulary::from_words(" the cat\tsat\n the  mat .\r\n");
  CHECK(v.unit() == Unit::word);
  CHECK(v.words() == std::vector<std::string>{".", "cat", "mat", "sat", "the"});
  CHECK(v.size() == 5);
  CHECK(v.encode("the  cat\n") == TokenIds{4, 1});
  CHECK(v.decode(TokenIds{4, 1, 0}) == "the cat .");
  CHECK(v.decode(1) == "cat");
  CHECK(v.find("mat") == 2);
  CHECK(v.find("ma") == -1);
  CHECK(Vocabulary::from_words("").size() == 0);
  CHECK(Vocabulary(v.words()) == v);
  CHECK(Vocabulary::from_words("a b") != Vocabulary::from_words("a c"));
  CHECK(Vocabulary::from_words("a b") != Vocabulary::of_text("ab"));
}

TEST_CASE("the error for an unknown word is one printable line", "[text][vocabulary]") {
  const Vocabulary v = Vocabulary::from_words("the cat");
  const std::string reason = " is not in the vocabulary; use only tokens of the training text";
  CHECK_THROWS_WITH(v.encode("the dog"), "'dog'" + reason);
  CHECK_THROWS_WITH(v.encode("a\x1b[31mb"), R"('a\x1b[31mb')" + reason);
  CHECK_THROWS_WITH(v.encode("a\u202eb"), R"('a\u202eb')" + reason);
  CHECK_THROWS_WITH(v.encode(std::string(500, 'x')), "'" + std::string(80, 'x') + "...'" + reason);
  CHECK_THROWS_AS(v.encode("the \xff"), Error);
}

TEST_CASE("unsorted, empty or invalid words throw", "[text][vocabulary]") {
  const auto make = [](std::vector<std::string> words) { return Vocabulary(std::move(words)); };
  CHECK_THROWS_WITH(make({"b", "a"}),
                    "vocabulary: word 1 is 'a' after 'b'; words must be strictly increasing");
  CHECK_THROWS_WITH(make({"a", "a"}),
                    "vocabulary: word 1 is 'a' after 'a'; words must be strictly increasing");
  CHECK_THROWS_WITH(make({"", "a"}),
                    "vocabulary: word 0 is ''; words must be nonempty and without white space");
  CHECK_THROWS_WITH(make({"a b"}),
                    "vocabulary: word 0 is 'a b'; words must be nonempty and without white space");
  CHECK_THROWS_AS(make({"\xff"}), Error);
  CHECK_THROWS_WITH(Vocabulary(Unit::word, {1, 2}),
                    "vocabulary: Unit::word needs words, not numbers");
}
