// byte_pairs_test.cpp: byte-pair encoding: training, encoding, decoding, limits.

#include "heed/text/byte_pairs.hpp"

#include <algorithm>
#include <map>

#include "catch.hpp"
#include "heed/array/random.hpp"
#include "heed/text/corpus.hpp"
#include "message_of.hpp"

namespace heed::test {

namespace {

using TokenIds = std::vector<std::int64_t>;
using Merges = std::vector<BytePairs::Merge>;

// A random text: any bytes, or bytes of a small alphabet, so that pairs repeat.
std::string random_text(Generator& g, std::size_t size, std::int64_t alphabet) {
  std::string text;
  for (const std::int64_t byte : g.randint(0, alphabet, {size}))
    text += static_cast<char>(alphabet == 256 ? byte : " aab.1\n\xc3"[byte]);
  return text;
}

// Replaces each pair `merge` by `id`, from left to right.
void join(const BytePairs::Merge& merge, std::int64_t id, TokenIds& ids) {
  for (std::size_t i = 0; i + 1 < ids.size(); ++i)
    if (BytePairs::Merge(ids[i], ids[i + 1]) == merge) {
      ids[i] = id;
      ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
}

// The merges of a text by the definition: counts all pairs anew for every merge.
Merges merges_by_definition(std::string_view text, std::size_t count) {
  std::vector<TokenIds> chunks;
  for (const std::string_view chunk : BytePairs::chunks_of(text)) {
    chunks.emplace_back();
    for (const char c : chunk) chunks.back().push_back(static_cast<unsigned char>(c));
  }
  Merges merges;
  while (merges.size() < count) {
    std::map<BytePairs::Merge, int> counts;
    for (const TokenIds& ids : chunks)
      for (std::size_t i = 1; i < ids.size(); ++i) ++counts[{ids[i - 1], ids[i]}];
    const auto best = std::max_element(counts.begin(), counts.end(),
                                       [](auto& a, auto& b) { return a.second < b.second; });
    if (best == counts.end() || best->second < 2) break;
    merges.push_back(best->first);
    for (TokenIds& ids : chunks)
      join(best->first, static_cast<std::int64_t>(255 + merges.size()), ids);
  }
  return merges;
}

}  // namespace

TEST_CASE("the first merge joins the most frequent pair, later merges join tokens",
          "[text][byte_pairs]") {
  const BytePairs pairs = BytePairs::trained_on("hug pug hugs bun hug", 259);
  // "ug" occurs four times, then "h" + "ug" and " " + "hug"
  CHECK(pairs.merges() == Merges{{'u', 'g'}, {'h', 256}, {' ', 257}});
  CHECK(pairs.size() == 259);
  CHECK(pairs.bytes(256) == "ug");
  CHECK(pairs.bytes(258) == " hug");
  CHECK(pairs.encode("hug hugs") == TokenIds{257, 258, 's'});
  CHECK(pairs.encode("bug") == TokenIds{'b', 256});
}

TEST_CASE("of two pairs with the same count the one with the smaller ids is merged first",
          "[text][byte_pairs]") {
  CHECK(BytePairs::trained_on("xy ab xy ab", 257).merges() == Merges{{' ', 'a'}});
  CHECK(BytePairs::trained_on("xy.ab.xy.ab", 257).merges() == Merges{{'a', 'b'}});
}

TEST_CASE("training ends when no pair occurs twice", "[text][byte_pairs]") {
  CHECK(BytePairs::trained_on("", 300).size() == 256);
  CHECK(BytePairs::trained_on("abcdef", 300).size() == 256);
  CHECK(BytePairs::trained_on("abab", 300).merges() == Merges{{'a', 'b'}});
}

TEST_CASE("the merges are those of the definition", "[text][byte_pairs]") {
  Generator g(1);
  for (int i = 0; i < 40; ++i) {
    const std::string text =
        random_text(g, 1 + static_cast<std::size_t>(g.randint(0, 300, {1})(0)), 8);
    INFO(text);
    CHECK(BytePairs::trained_on(text, 276).merges() == merges_by_definition(text, 20));
  }
}

TEST_CASE("any bytes come back from encode and decode", "[text][byte_pairs]") {
  Generator g(2);
  const BytePairs pairs = BytePairs::trained_on(random_text(g, 5000, 8), 400);
  const Vocabulary vocabulary(pairs);
  CHECK(vocabulary.size() == pairs.size());
  for (int i = 0; i < 200; ++i) {
    const std::string text = random_text(g, static_cast<std::size_t>(i), i % 2 == 0 ? 256 : 8);
    const TokenIds ids = vocabulary.encode(text);
    CHECK((vocabulary.decode(ids) == text));
    CHECK((pairs.decode(ids) == text));
    CHECK(ids.size() <= text.size());
  }
}

TEST_CASE("the chunks of a text are words with the space before them", "[text][byte_pairs]") {
  using Chunks = std::vector<std::string_view>;
  CHECK(BytePairs::chunks_of("") == Chunks{});
  CHECK(BytePairs::chunks_of("the cat") == Chunks{"the", " cat"});
  CHECK(BytePairs::chunks_of("in 1999, a \"word\".\n\n  Next ") ==
        Chunks{"in", " 1999", ",", " a", " \"", "word", "\".", "\n\n ", " Next", " "});
  CHECK(BytePairs::chunks_of("caf\xc3\xa9 x2") == Chunks{"caf\xc3\xa9", " x", "2"});
}

TEST_CASE("a line feed belongs to no word, and spaces at the end stay together",
          "[text][byte_pairs]") {
  using Chunks = std::vector<std::string_view>;
  CHECK(BytePairs::chunks_of("a\nb") == Chunks{"a", "\n", "b"});
  CHECK(BytePairs::chunks_of("a\n b") == Chunks{"a", "\n", " b"});
  CHECK(BytePairs::chunks_of("a  ") == Chunks{"a", "  "});
}

TEST_CASE("a chunk has bytes of one kind: white space, letters, digits or others",
          "[text][byte_pairs]") {
  // The first and the last bytes of each kind, and their neighbours.
  const std::string white_space = "\t\r ", letters = "azAZ\x80\xff", digits = "09",
                    others = "\x08\x0e!/:@[`{\x7f";
  const auto are_one_chunk = [](const std::string& bytes) {
    return BytePairs::chunks_of(bytes + bytes).size() == 1;
  };
  for (const std::string& kind : {letters, digits, others}) {
    CHECK(are_one_chunk(kind));
    for (const std::string& other : {letters, digits, others})
      for (const char a : kind)
        for (const char b : other)
          CHECK((BytePairs::chunks_of(std::string{a, b}).size() == 1) == (kind == other));
  }
  for (const char a : white_space)
    for (const char b : letters + digits + others) {
      CHECK(BytePairs::chunks_of(std::string{b, a}).size() == 2);
      CHECK(BytePairs::chunks_of(std::string{a, b}).size() == (a == ' ' ? 1 : 2));
    }
}

TEST_CASE("a chunk is encoded by its merges in the order of learning", "[text][byte_pairs]") {
  Generator g(2);
  for (int i = 0; i < 20; ++i) {
    const std::string text = random_text(g, 300, 8);
    INFO(text);
    const BytePairs pairs = BytePairs::trained_on(text, 300);
    TokenIds expected;
    for (const std::string_view chunk : BytePairs::chunks_of(text)) {
      TokenIds ids;
      for (const char c : chunk) ids.push_back(static_cast<unsigned char>(c));
      for (std::size_t m = 0; m < pairs.merges().size(); ++m)
        join(pairs.merges()[m], static_cast<std::int64_t>(256 + m), ids);
      expected.insert(expected.end(), ids.begin(), ids.end());
    }
    CHECK(pairs.encode(text) == expected);
  }
}

TEST_CASE("the byte 0 can be merged", "[text][byte_pairs]") {
  CHECK(BytePairs({{0, 0}}).encode(std::string(4, '\0')) == TokenIds{256, 256});
}

TEST_CASE("a chunk is never longer than 256 bytes and the space before them",
          "[text][byte_pairs]") {
  const std::string digits(1000, '7');
  std::size_t longest = 0;
  for (const std::string_view chunk : BytePairs::chunks_of("x " + digits))
    longest = std::max(longest, chunk.size());
  CHECK(longest == 257);
  const BytePairs pairs = BytePairs::trained_on(digits, 300);
  CHECK(pairs.decode(pairs.encode(digits)) == digits);
}

TEST_CASE("a vocabulary of the 256 bytes alone has no merges", "[text][byte_pairs]") {
  CHECK(BytePairs::trained_on("aaaa", 256).merges().empty());
  CHECK(BytePairs::trained_on("aaaa", 257).merges().size() == 1);
}

TEST_CASE("a token is never longer than 128 bytes", "[text][byte_pairs]") {
  const BytePairs pairs = BytePairs::trained_on(std::string(100'000, 'a'), 300);
  CHECK(pairs.size() == 256 + 7);  // 2, 4, ..., 128 letters
  std::size_t longest = 0;
  for (std::size_t id = 0; id < pairs.size(); ++id)
    longest = std::max(longest, pairs.bytes(static_cast<std::int64_t>(id)).size());
  CHECK(longest == 128);
  Merges doubling;
  for (std::int64_t i = 0; i < 8; ++i)
    doubling.push_back({i == 0 ? 'a' : 255 + i, i == 0 ? 'a' : 255 + i});
  CHECK(message_of([&] { BytePairs{doubling}; }) ==
        "byte pairs: merge 7 makes a token of 256 bytes; give at most 128");
}

TEST_CASE("invalid merges and sizes are rejected", "[text][byte_pairs]") {
  const auto rejected = [](const Merges& merges) { return message_of([&] { BytePairs{merges}; }); };
  const std::string reason =
      "; it must join two of the 257 tokens before it, and differ from all "
      "merges before it";
  CHECK(rejected({{97, 98}, {257, 1}}) == "byte pairs: merge 1 is 257 1" + reason);
  CHECK(rejected({{97, 98}, {1, 257}}) == "byte pairs: merge 1 is 1 257" + reason);
  CHECK(rejected({{97, 98}, {-1, 1}}) == "byte pairs: merge 1 is -1 1" + reason);
  CHECK(rejected({{97, 98}, {97, 98}}) == "byte pairs: merge 1 is 97 98" + reason);
  CHECK(rejected({{97, 98}, {256, 256}}).empty());
  CHECK(message_of([] { BytePairs({}).bytes(256); }) ==
        "byte pairs: id 256 is not one of the 256 tokens");
  CHECK(message_of([] {
          BytePairs({}).decode({0, -1});
        }) == "byte pairs: id -1 is not one of the 256 tokens");
  CHECK(message_of([] { BytePairs::trained_on("ab", 255); }) ==
        "byte pairs: vocab_size is 255; give at least 256, one for each byte");
  CHECK(message_of([] { Vocabulary(Unit::byte_pair, {97}); }) ==
        "vocabulary: Unit::byte_pair needs BytePairs; make them with BytePairs::trained_on");
}

TEST_CASE("vocabularies of byte pairs are equal if their merges are", "[text][byte_pairs]") {
  const Vocabulary a{BytePairs({{97, 98}})}, b{BytePairs({{97, 99}})}, none{BytePairs({})};
  CHECK(a == Vocabulary(BytePairs({{97, 98}})));
  CHECK(a != b);
  CHECK(none != Vocabulary::of_text("a", Unit::byte));
  CHECK(a.unit() == Unit::byte_pair);
  CHECK(a.find('\n') == 10);
}

TEST_CASE("a corpus of byte pairs has the ids of its training text, then of the rest",
          "[text][byte_pairs]") {
  const std::string text = "the cat sat on the mat. the cat sat.";
  const BytePairs pairs = BytePairs::trained_on(text, 270);
  const Corpus corpus(text, Vocabulary(pairs));
  TokenIds ids = pairs.encode(text.substr(0, 32));
  for (const std::int64_t id : pairs.encode(text.substr(32))) ids.push_back(id);
  REQUIRE(corpus.size() == ids.size());
  const Indices some = corpus.ids(2, 5);
  for (std::size_t i = 0; i < 5; ++i) CHECK(some(i) == ids[i + 2]);
  CHECK(corpus.text() == text);
}

}  // namespace heed::test
