// corpus_test.cpp: token ids of any range of a text, and the training and validation split.

#include "heed/text/corpus.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "catch.hpp"
#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"
#include "heed/base/utf8.hpp"

namespace {

using namespace heed;
using Numbers = std::vector<std::int64_t>;

Numbers numbers(const Indices& x) { return Numbers(x.data(), x.data() + x.size()); }

// A text with `count` consecutive code points from `first` on.
std::string characters(std::uint32_t first, std::uint32_t count) {
  std::string text;
  for (std::uint32_t c = first; c < first + count; ++c) append_utf8(text, c);
  return text;
}

// `count` ASCII characters, each different from its neighbours.
std::string sequence(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += static_cast<char>(' ' + i % 89);
  return text;
}

Numbers part_of(const Numbers& all, std::size_t begin, std::size_t count) {
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
  return Numbers(first, first + static_cast<std::ptrdiff_t>(count));
}

Corpus corpus_of(const std::string& text, Unit unit = Unit::code_point) {
  return Corpus(text, Vocabulary::of_text(text, unit));
}

}  // namespace

TEST_CASE("corpus ids equal Vocabulary::encode", "[text][corpus]") {
  const std::string text = "h\xc3\xa9llo";
  const Vocabulary vocabulary = Vocabulary::of_text(text);
  const Corpus corpus(text, vocabulary);
  CHECK(corpus.size() == 5);
  CHECK(numbers(corpus.ids(0, 5)) == vocabulary.encode(text));
  CHECK(numbers(corpus.ids(1, 2)) == Numbers{3, 1});
  CHECK(str(shape_of(corpus.ids(1, 2))) == "(2)");
  CHECK(corpus.ids(5, 0).size() == 0);
  CHECK(corpus_of(text, Unit::byte).size() == 6);
}

TEST_CASE("the first and last ids of a large vocabulary are right", "[text][corpus]") {
  for (const std::uint32_t count : {256u, 257u, 65536u, 65537u}) {
    const Corpus corpus = corpus_of(characters(0x10000, count));
    CHECK(numbers(corpus.ids(0, 2)) == Numbers{0, 1});
    CHECK(numbers(corpus.ids(count - 2, 2)) == Numbers{count - 2, count - 1});
  }
}

// Puts one multi-byte character among ASCII characters, at each position around 256, the distance
// between stored byte offsets.
TEST_CASE("every window of a text with mixed character sizes has the right ids", "[text][corpus]") {
  for (const std::string wide : {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"})
    for (std::size_t position = 240; position <= 272; ++position) {
      std::string text = sequence(position) + wide + sequence(600 - position) + wide + wide;
      const Vocabulary vocabulary = Vocabulary::of_text(text);
      const Numbers expected = vocabulary.encode(text);
      const Corpus corpus(text, vocabulary);
      REQUIRE(corpus.size() == 603);
      for (std::size_t begin = 0; begin < 603; begin += 7)
        for (const std::size_t count : {std::size_t{1}, std::min(std::size_t{65}, 603 - begin)})
          REQUIRE(numbers(corpus.ids(begin, count)) == part_of(expected, begin, count));
      CHECK(numbers(corpus.ids(0, 603)) == expected);
      CHECK(corpus.ids(603, 0).size() == 0);
    }
}

TEST_CASE("a corpus of a multiple of 256 characters has the right size", "[text][corpus]") {
  for (const std::uint32_t count : {255u, 256u, 257u, 512u}) {
    const Corpus corpus = corpus_of(characters(0x100, count));
    CHECK(corpus.size() == count);
    CHECK(corpus.ids(count, 0).size() == 0);
    CHECK(numbers(corpus.ids(count - 1, 1)) == Numbers{count - 1});
    CHECK_THROWS_AS(corpus.ids(count, 1), Error);
  }
}

TEST_CASE("a corpus keeps its text, including zero bytes and invalid UTF-8", "[text][corpus]") {
  const std::string text("a\0\r\n\x7f", 5);
  const Corpus corpus = corpus_of(text);
  CHECK(corpus.text() == text);
  CHECK(numbers(corpus.ids(0, 5)) == Numbers{3, 0, 2, 1, 4});
  const std::string bytes("\xff\0\xc3\xff", 4);
  CHECK(numbers(corpus_of(bytes, Unit::byte).ids(0, 4)) == Numbers{2, 0, 1, 2});
}

TEST_CASE("the training split is 90% of the text, rounded down", "[text][corpus]") {
  for (std::size_t n = 0; n <= 200; ++n) {
    const Corpus corpus = corpus_of(std::string(n, 'a'));
    const Split training = corpus.training(), validation = corpus.validation();
    CHECK(corpus.train_size() == n * 9 / 10);
    CHECK(training.begin == 0);
    CHECK(training.size == n * 9 / 10);
    CHECK(validation.begin == training.size);
    CHECK(training.size + validation.size == n);
  }
  const Corpus one = corpus_of("a");
  CHECK(one.training().name == "training");
  CHECK(one.validation().name == "validation");
}

TEST_CASE("byte pairs are split at 90% of the bytes, and both parts are encoded separately",
          "[text][corpus]") {
  const std::string text = "the cat sat, the cat sat, the cats";
  CHECK(training_bytes(text) == 30);
  CHECK(training_bytes(std::string(20, 'a') + "\u6f22") == 20);  // not inside the character
  CHECK(training_bytes("") == 0);
  const Vocabulary vocabulary(BytePairs::trained_on(text, 270));
  const Corpus corpus(text, vocabulary);
  const std::string first = text.substr(0, 30), second = text.substr(30);
  CHECK(corpus.training_text() == first);
  CHECK(corpus.train_size() == vocabulary.encode(first).size());
  CHECK(numbers(corpus.ids(0, corpus.train_size())) == vocabulary.encode(first));
  const Split rest = corpus.validation();
  CHECK(numbers(corpus.ids(rest.begin, rest.size)) == vocabulary.encode(second));
  CHECK(corpus.size() > vocabulary.encode(text).size());  // a token " cat" would lie on the split
}

TEST_CASE("the training text is what the training tokens encode", "[text][corpus]") {
  for (const std::string& text : {std::string(1000, 'a'), sequence(700) + characters(0xe9, 700)}) {
    const Corpus corpus = corpus_of(text);
    CHECK(count_code_points(corpus.training_text()) == corpus.train_size());
    CHECK(text.substr(0, corpus.training_text().size()) == corpus.training_text());
    CHECK(corpus_of(text, Unit::byte).training_text().size() == text.size() * 9 / 10);
  }
}

TEST_CASE("a character outside the vocabulary and invalid UTF-8 throw", "[text][corpus]") {
  CHECK_THROWS_WITH(Corpus("abc", Vocabulary::of_text("ab")),
                    "'c' (U+0063) is not in the vocabulary; use only tokens of the training text");
  CHECK_THROWS_WITH(Corpus("ab\xff", Vocabulary::of_text("ab")),
                    "not UTF-8: byte 2 is 0xff; convert the text or use --bytes");
  CHECK_THROWS_AS(Corpus("ab\xc3", Vocabulary::of_text("ab")), Error);
  CHECK_THROWS_AS(Corpus("\x80\x80", Vocabulary::of_text("ab")), Error);
}

TEST_CASE("an unknown character or invalid byte is detected at every position", "[text][corpus]") {
  const Vocabulary vocabulary = Vocabulary::of_text(sequence(89) + "\xc3\xa9");
  for (std::size_t position = 0; position <= 530; ++position) {
    const std::string before = sequence(position), after = sequence(300);
    CHECK_THROWS_WITH(Corpus(before + "\n" + after, vocabulary),
                      "U+000A is not in the vocabulary; use only tokens of the training text");
    CHECK_THROWS_WITH(Corpus(before + "\xff" + after, vocabulary),
                      "not UTF-8: byte " + std::to_string(position) +
                          " is 0xff; convert the text or use --bytes");
    CHECK(Corpus(before + "\xc3\xa9" + after, vocabulary).size() == position + 301);
  }
}

TEST_CASE("ids past the end throw", "[text][corpus]") {
  const Corpus corpus = corpus_of("hello");
  CHECK_THROWS_WITH(corpus.ids(3, 3), "corpus: cannot read 3 tokens from position 3; it has 5");
  CHECK_THROWS_AS(corpus.ids(6, 0), Error);
  CHECK_THROWS_AS(corpus.ids(1, static_cast<std::size_t>(-1)), Error);
}

TEST_CASE("a corpus rejects a vocabulary of words", "[text][corpus]") {
  CHECK_THROWS_WITH(
      Corpus("a b", Vocabulary::from_words("a b")),
      "corpus: the vocabulary is word-level; give a character-level or byte-level one");
}
