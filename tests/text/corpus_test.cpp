// corpus_test.cpp: a text's ids are kept small, and split into nine tenths and the rest.

#include "heed/text/corpus.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "catch.hpp"
#include "heed/array/error.hpp"
#include "heed/array/shape.hpp"
#include "heed/text/utf8.hpp"

namespace {

using namespace heed;
using Numbers = std::vector<std::int64_t>;

Numbers numbers(const Indices& x) { return Numbers(x.data(), x.data() + x.size()); }

// A text of the code points first, first + 1, ...
std::string characters(std::uint32_t first, std::uint32_t count) {
  std::string text;
  for (std::uint32_t c = first; c < first + count; ++c) append_utf8(text, c);
  return text;
}

Corpus corpus_of(const std::string& text, Unit unit = Unit::code_point) {
  return Corpus(text, Vocabulary::of_text(text, unit));
}

}  // namespace

TEST_CASE("a corpus holds the ids that the vocabulary gives", "[text][corpus]") {
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

TEST_CASE("ids take the fewest bytes that hold the vocabulary", "[text][corpus]") {
  CHECK(corpus_of(characters(0x100, 256)).bytes_per_symbol() == 1);
  CHECK(corpus_of(characters(0x100, 257)).bytes_per_symbol() == 2);
  CHECK(corpus_of(characters(0x10000, 65536)).bytes_per_symbol() == 2);
  CHECK(corpus_of(characters(0x10000, 65537)).bytes_per_symbol() == 4);
}

TEST_CASE("the largest id of each width survives", "[text][corpus]") {
  for (const std::uint32_t count : {256u, 257u, 65536u, 65537u}) {
    const Corpus corpus = corpus_of(characters(0x10000, count));
    CHECK(numbers(corpus.ids(count - 2, 2)) == Numbers{count - 2, count - 1});
  }
}

TEST_CASE("nine tenths, rounded down, are for training", "[text][corpus]") {
  for (std::size_t n = 0; n <= 200; ++n) {
    const Corpus corpus = corpus_of(std::string(n, 'a'));
    const Part training = corpus.training(), validation = corpus.validation();
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

TEST_CASE("a vocabulary of another text may lack a symbol", "[text][corpus]") {
  CHECK_THROWS_WITH(Corpus("abc", Vocabulary::of_text("ab")),
                    "'c' (U+0063) is not in the vocabulary; use what the training text has");
  CHECK_THROWS_WITH(Corpus("ab\xff", Vocabulary::of_text("ab")),
                    "not UTF-8: byte 2 is 0xff; convert the text or use --bytes");
  CHECK_THROWS_AS(Corpus("ab\xc3", Vocabulary::of_text("ab")), Error);
  CHECK_THROWS_AS(Corpus("\x80\x80", Vocabulary::of_text("ab")), Error);
}

TEST_CASE("ids past the end are refused", "[text][corpus]") {
  const Corpus corpus = corpus_of("hello");
  CHECK_THROWS_WITH(corpus.ids(3, 3), "corpus: 3 symbols from 3 on reach past the end of 5");
  CHECK_THROWS_AS(corpus.ids(6, 0), Error);
  CHECK_THROWS_AS(corpus.ids(1, static_cast<std::size_t>(-1)), Error);
}
