// sentence_piece_test.cpp: the tokenizer of Llama: merges by score, bytes, special tokens, errors.

#include "text/sentence_piece.hpp"

#include "catch.hpp"
#include "heed/base/text.hpp"
#include "message_of.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using Ids = std::vector<std::size_t>;

constexpr std::size_t first_byte = 3, first_piece = 259;

std::string bytes_and_special() {
  std::string text = "<unk>\t0\n<s>\t0\n</s>\t0\n";
  for (std::size_t byte = 0; byte < 256; ++byte) text += hexadecimal("<0x%02llX>", byte) + "\t0\n";
  return text;
}

// The pieces have the ids from first_piece on, and the scores -1, -2, ...
SentencePiece with(const std::vector<std::string>& pieces) {
  std::string text = bytes_and_special();
  for (std::size_t i = 0; i < pieces.size(); ++i)
    text += pieces[i] + "\t-" + std::to_string(i + 1) + "\n";
  return SentencePiece::from_contents(text);
}

std::string error_of(const std::string& text) {
  return message_of([&] { SentencePiece::from_contents(text, "t.vocab"); });
}

// The ids after <s>, counted from the first piece on.
std::vector<int> pieces_of(const SentencePiece& tokenizer, const std::string& text) {
  const Ids ids = tokenizer.encode(text);
  REQUIRE(ids.at(0) == tokenizer.begin_of_text());
  std::vector<int> pieces;
  for (std::size_t i = 1; i < ids.size(); ++i)
    pieces.push_back(static_cast<int>(ids[i]) - static_cast<int>(first_piece));
  return pieces;
}

}  // namespace

TEST_CASE("the neighbours with the highest score are joined first", "[text][sentence_piece]") {
  const SentencePiece left = with({"ab", "bc", "\u2581", "a", "b", "c"});
  CHECK(pieces_of(left, "abc") == std::vector<int>{2, 0, 5});
  const SentencePiece right = with({"bc", "ab", "\u2581", "a", "b", "c"});
  CHECK(pieces_of(right, "abc") == std::vector<int>{2, 3, 0});
  // Of equal scores, the first in the text is joined: aa|a, not a|aa.
  const SentencePiece same = with({"aa", "a", "\u2581", "aaaa"});
  CHECK(pieces_of(same, "aaa") == std::vector<int>{2, 0, 1});
  CHECK(pieces_of(same, "aaaaaaa") == std::vector<int>{2, 3, 0, 1});
  // Joining a b makes x possible, which has a higher score than the second a b and comes first.
  const SentencePiece higher = with({"ab\u2581", "ab", "\u2581ab", "\u2581", "a", "b"});
  CHECK(pieces_of(higher, "ab ab") == std::vector<int>{3, 0, 1});
}

TEST_CASE("a text gets a space before it and <s>, and decode() takes the space away",
          "[text][sentence_piece]") {
  const SentencePiece t = with({"\u2581a", "\u2581", "a", "b"});
  CHECK(t.encode("ab") == Ids{1, first_piece, first_piece + 3});
  CHECK(t.encode(" a") == Ids{1, first_piece + 1, first_piece});
  CHECK(t.encode("") == Ids{1});
  CHECK(t.decode(t.encode("ab")) == "<s>ab");
  CHECK(t.decode(t.encode(" a")) == "<s> a");
  CHECK(t.decode({first_piece, first_piece + 3}) == " ab");
  CHECK(t.decode({}) == "");
}

TEST_CASE("characters that are no piece become bytes", "[text][sentence_piece]") {
  const SentencePiece t = with({"\u2581", "\u00e9"});
  CHECK(t.encode("\u00e9\u00e8\n") == Ids{1, first_piece, first_piece + 1, first_byte + 0xc3,
                                          first_byte + 0xa8, first_byte + 10});
  // '\u2581' in a text is no space: it has to come back.
  CHECK(t.decode(t.encode("\u2581\u20ac\U0001f600 \u00e9")) == "<s>\u2581\u20ac\U0001f600 \u00e9");
  CHECK(t.find('\n') == first_byte + 10);
  CHECK(t.find(' ') == first_piece);
}

TEST_CASE("special tokens are tokens on request only", "[text][sentence_piece]") {
  const SentencePiece t = with({"\u2581a", "\u2581", "a"});
  const std::size_t a = first_piece;
  CHECK(t.encode("<s>a").size() == 6);
  CHECK(t.encode("<s>a", SpecialTokens::as_tokens) == Ids{1, a});
  CHECK(t.encode("a</s><s>a", SpecialTokens::as_tokens) == Ids{1, a, 2, 1, a + 2});
  CHECK(t.encode("<unk>", SpecialTokens::as_tokens) == Ids{1, 0});
  CHECK(t.decode({1, a, 2}) == "<s>a</s>");
}

TEST_CASE("a long text without spaces is encoded", "[text][sentence_piece]") {
  const SentencePiece t = with({"\u2581", "a", "aa", "aaaa"});
  CHECK(t.encode(std::string(400'000, 'a')).size() == 100'002);
}

TEST_CASE("damaged vocabularies are rejected with their line", "[text][sentence_piece]") {
  const std::string good = bytes_and_special();
  CHECK(error_of(good) == "");
  const std::string must = ", must be a piece in UTF-8, a tab and a score";
  CHECK(error_of("") == "t.vocab: has no token <s>; give the tokenizer of a model of Llama");
  CHECK(error_of("<unk>\t0\n\n") == "t.vocab: line 2, ''" + must);
  CHECK(error_of("<unk> 0\n") == "t.vocab: line 1, '<unk> 0'" + must);
  CHECK(error_of("\t0\n") == "t.vocab: line 1, '\\t0'" + must);
  CHECK(error_of("\xff\t0\n") == "t.vocab: line 1, '\\xff\\t0'" + must);
  for (const std::string score : {"", "x", "nan", "inf", "1e99", "1 "})
    CHECK(error_of("<unk>\t" + score) ==
          "t.vocab: line 1: the score '" + score + "' is not a finite number");
  CHECK(error_of(good + "a\t1\na\t2\n") ==
        "t.vocab: line 261: is the piece 'a' again; pieces must be distinct");
  CHECK(error_of(good + "<s>\t1\n") ==
        "t.vocab: lines 2 and 260 are both '<s>'; tokens must be distinct");
  CHECK(error_of("<s>\t0\n") ==
        "t.vocab: has no token <0x00>; give a tokenizer with all 256 bytes");
  CHECK(message_of([&] { with({"a"}).encode("\xff"); }) ==
        "encode: the text is not UTF-8 at byte 0 (0xff); convert it with iconv -t UTF-8");
  CHECK(message_of([&] { with({"a"}).decode({260}); }) ==
        "id 260 is not in the vocabulary of 260 tokens");
}

TEST_CASE("a Vocabulary of pieces", "[text][sentence_piece]") {
  const std::string text = bytes_and_special() + "\u2581a\t-1\n\u2581\t-2\na\t-3\n";
  const Vocabulary v = Vocabulary::from_files(Unit::sentence_piece, {text}, {"t.vocab"});
  CHECK(v.size() == 262);
  CHECK(v.first_token() == 1);
  CHECK(v.encode("a") == std::vector<std::int64_t>{1, 259});
  CHECK(v.encode("<s>a", SpecialTokens::as_tokens) == std::vector<std::int64_t>{1, 259});
  CHECK(v.decode({1, 259, 260, 13}) == "<s>a \n");
  CHECK(v.find('\n') == 13);
  CHECK(v.find('a') == 261);
  CHECK(has_merges(v.unit()));
  CHECK_FALSE(has_merges(Unit::word_piece));
}
