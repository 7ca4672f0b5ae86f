// word_piece_test.cpp: BERT's tokenizer: normalization, words, pieces, special tokens, rejected
// files.

#include "heed/text/word_piece.hpp"

#include <string>
#include <vector>

#include "catch.hpp"
#include "heed/base/utf8.hpp"
#include "message_of.hpp"
#include "scratch_folder.hpp"

namespace heed::test {

namespace {

using Ids = std::vector<std::size_t>;
using Words = std::vector<std::string>;

const std::string special = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";  // the ids 0 to 4
const std::string vocab =
    special + "un\naff\n##aff\n##able\nplay\n##ing\n.\n##.\n中\nable\ni\nx\n##x\n#\n";

WordPiece pieces() { return WordPiece::from_contents(vocab); }

std::string normalized(const std::string& text) { return WordPiece::normalized(text); }
Words words(const std::string& text) { return WordPiece::words_of(text); }

std::string rejection(const std::string& text) {
  return message_of([&] { WordPiece::from_contents(text); });
}

}  // namespace

TEST_CASE("a word becomes the longest pieces from the left", "[text][word_piece]") {
  CHECK(pieces().encode("unaffable playing.") == Ids{5, 7, 8, 9, 10, 11});
  CHECK(pieces().encode("") == Ids{});
  CHECK(pieces().decode({5, 7, 8, 9, 10, 11}) == "unaffable playing .");
  CHECK(pieces().decode({10, 5}) == "##ing un");
}

TEST_CASE("the pieces that begin a word are not those that continue it", "[text][word_piece]") {
  CHECK(pieces().encode("aff able") == Ids{6, 14});
  CHECK(pieces().encode("ing") == Ids{1});  // only ##ing is in the vocabulary
  CHECK(pieces().encode("unable") == Ids{5, 8});
  CHECK(pieces().encode("playun") == Ids{1});  // only un, not ##un
  CHECK(pieces().encode("##ing") == Ids{18, 18, 1});
}

TEST_CASE("a word with an unknown part, or of more than 100 characters, is [UNK]",
          "[text][word_piece]") {
  CHECK(pieces().encode("playing playq q") == Ids{9, 10, 1, 1});
  Ids hundred(100, 17);
  hundred[0] = 16;
  CHECK(pieces().encode(std::string(100, 'x')) == hundred);
  CHECK(pieces().encode(std::string(101, 'x')) == Ids{1});
  std::string
      accents;  // 100 characters, 300 bytes, and 200 code points before the accents are removed
  for (int i = 0; i < 100; ++i) accents += "x\u0301";
  CHECK(pieces().encode(accents) == hundred);
}

// These would take hours with a sort of marks by insertion, with a search for the end of the word
// at every sigma, or with a search for the longest piece that has no limit.
TEST_CASE("a million marks, sigmas, brackets or letters are encoded", "[text][word_piece]") {
  std::string marks = "x", sigmas;
  for (int i = 0; i < 500'000; ++i) {
    marks += "\u0301\u0323";
    sigmas += "Σ'";
  }
  CHECK(pieces().encode(marks) == Ids{16});
  CHECK(pieces().encode(sigmas) == Ids(1'000'000, 1));
  CHECK(pieces().encode(std::string(1'000'000, '[')) == Ids(1'000'000, 1));
  CHECK(pieces().encode(std::string(1'000'000, 'x')) == Ids{1});
}

TEST_CASE("special tokens are found before the text is normalized", "[text][word_piece]") {
  CHECK(pieces().encode("i [MASK] i") == Ids{15, 4, 15});
  CHECK(pieces().encode("i[MASK]i[[SEP]") == Ids{15, 4, 15, 1, 3});
  CHECK(pieces().encode("[PAD][UNK][CLS][SEP][MASK]") == Ids{0, 1, 2, 3, 4});
  CHECK(pieces().encode("[mask]") == Ids{1, 1, 1});
  CHECK(pieces().encode_sequence("i .") == Ids{2, 15, 11, 3});
  CHECK(Ids{pieces().pad(), pieces().unk(), pieces().cls(), pieces().sep(), pieces().mask()} ==
        Ids{0, 1, 2, 3, 4});
}

TEST_CASE("normalization makes lower case and removes accents", "[text][word_piece]") {
  CHECK(normalized("Café ÅNGSTRÖM İstanbul STRASSE Straße") ==
        "cafe angstrom istanbul strasse straße");
  CHECK(normalized("ΟΔΟΣ") == "οδος");
  CHECK(normalized("한") == "\u1112\u1161\u11ab");
  CHECK(normalized("a\u0903\u20dd") == "a\u0903\u20dd");  // a spacing and an enclosing mark stay
}

TEST_CASE("normalization removes control characters and makes white space spaces",
          "[text][word_piece]") {
  CHECK(normalized("a\tb\nc\rd") == "a b c d");
  CHECK(normalized("a\u0085b\vc\fd\u001ce") == "abcde");
  CHECK(normalized(std::string("a\0b\ufffdc\u200bd\ufeff", 14)) == "abcd");
  CHECK(normalized("a\u00a0b\u3000c\u2028d") == "a b c d");
  CHECK(normalized("a\ue000b") == "ab");  // private use
}

TEST_CASE("each character of the eight Chinese blocks is a word, others are not",
          "[text][word_piece]") {
  const std::vector<std::pair<char32_t, char32_t>> blocks{
      {0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xf900, 0xfaff},   {0x20000, 0x2a6df},
      {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f}, {0x2b820, 0x2ceaf}, {0x2f800, 0x2fa1f}};
  const auto is_alone = [](char32_t c) {
    std::string text = "a";
    append_utf8(text, c);
    return words(normalized(text + "b")).size() == 3;
  };
  for (const auto& [first, last] : blocks) {
    INFO(std::hex << static_cast<std::uint32_t>(first));
    CHECK(is_alone(first));
    CHECK(is_alone(last));
    CHECK(is_alone(last + 1) == (last == 0x2b73f || last == 0x2b81f));  // the next block begins
    CHECK(is_alone(first - 1) == (first == 0x2b740 || first == 0x2b820));
  }
  CHECK(words(normalized("カタカナ 한국")).size() == 2);
  CHECK(pieces().encode("中中i") == Ids{13, 13, 15});
}

TEST_CASE("words end at white space and at punctuation", "[text][word_piece]") {
  CHECK(words("it's 50% of x_y-z.") ==
        Words{"it", "'", "s", "50", "%", "of", "x", "_", "y", "-", "z", "."});
  CHECK(words("$+<=>^`|~") == Words{"$", "+", "<", "=", ">", "^", "`", "|", "~"});
  CHECK(words("a…b—c «d» €5 ©") == Words{"a", "…", "b", "—", "c", "«", "d", "»", "€5", "©"});
  CHECK(words("  ") == Words{});
}

TEST_CASE("a bad vocab.txt is rejected in one line with its line number", "[text][word_piece]") {
  CHECK(rejection("") ==
        "vocab.txt: has no token [PAD] among its 0 lines; give the vocab.txt of a BERT "
        "model");
  CHECK(rejection("[PAD]\n[UNK]\n[CLS]\n[SEP]\n").find("vocab.txt: has no token [MASK] among") ==
        0);
  CHECK(rejection(special + "a\n\nb\n") == "vocab.txt: line 7 is empty; each line must be a token");
  CHECK(rejection(special + "a\nb\na\n") ==
        "vocab.txt: lines 6 and 8 are both 'a'; tokens must be distinct");
  CHECK(rejection(special + "a\xff\n") == "vocab.txt: line 6, 'a\\xff', is not UTF-8");
  CHECK(message_of([] { pieces().piece(19); }) == "id 19 is not in the vocabulary of 19 tokens");
  CHECK(message_of([] { pieces().encode("a\xc3"); }) ==
        "encode: the text is not UTF-8 at byte 1 (0xc3); convert it with iconv -t UTF-8");
}

TEST_CASE("lines of vocab.txt can end in a carriage return, and the last one in nothing",
          "[text][word_piece]") {
  const auto windows = WordPiece::from_contents("[PAD]\r\n[UNK]\r\n[CLS]\r\n[SEP]\r\n[MASK]\r\na");
  CHECK(windows.size() == 6);
  CHECK(windows.piece(5) == "a");
  CHECK(windows.find("a") == std::optional<std::size_t>(5));
  CHECK_FALSE(windows.find("b"));
}

TEST_CASE("a byte order mark of vocab.txt is no part of its first token", "[text][word_piece]") {
  const WordPiece marked = WordPiece::from_contents("\ufeff" + vocab);
  CHECK(marked.piece(0) == "[PAD]");
  CHECK(marked.size() == pieces().size());
}

TEST_CASE("load names the file of the vocabulary", "[text][word_piece]") {
  const heed_test::ScratchFolder folder;
  folder.write("v.txt", vocab);
  CHECK(WordPiece::load(folder / "v.txt").size() == 19);
  folder.write("v.txt", special + "a\na\n");
  CHECK(message_of([&] { WordPiece::load(folder / "v.txt"); }) ==
        (folder / "v.txt").string() + ": lines 6 and 7 are both 'a'; tokens must be distinct");
}

}  // namespace heed::test
