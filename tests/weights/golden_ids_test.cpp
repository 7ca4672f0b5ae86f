// golden_ids_test.cpp: token ids of difficult and random texts, computed by other projects.

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.hpp"
#include "heed/text/word_piece.hpp"
#include "text/byte_level_bpe.hpp"

namespace heed::test {

namespace {

using Numbers = std::vector<std::size_t>;
using Words = std::vector<std::string>;

const std::string folder = HEED_TESTS_DIR "/weights/";

// One line of a file that tests/weights/peers --golden wrote.
struct Line {
  explicit Line(const nlohmann::json& json)
      : text(json[0]), chunks(json[1]), bpe(json[2]), pieces(json[3]), words(json[4]) {}

  std::string text;
  Numbers chunks, bpe, pieces;
  Words words;
};

std::vector<Line> golden(const std::string& name) {
  std::ifstream file(folder + name);
  std::vector<Line> lines;
  for (std::string line; std::getline(file, line);) lines.emplace_back(nlohmann::json::parse(line));
  REQUIRE(lines.size() == 400);
  return lines;
}

// The words between the special tokens of a text; a special token is a word of its own.
Words words_of(std::string_view text) { return WordPiece::words_of(WordPiece::normalized(text)); }

}  // namespace

TEST_CASE("400 texts are split into the chunks of python3-regex", "[weights]") {
  for (const char* name : {"golden_small.txt", "golden_published.txt"})
    for (const Line& line : golden(name)) {
      Numbers sizes;
      for (const std::string_view chunk : ByteLevelBpe::chunks_of(line.text))
        sizes.push_back(chunk.size());
      INFO(line.text);
      CHECK(sizes == line.chunks);
    }
}

TEST_CASE(
    "400 texts have the byte-level BPE ids of another implementation, and decode to themselves",
    "[weights]") {
  const auto bpe = ByteLevelBpe::load(folder + "small/vocab.json", folder + "small/merges.txt");
  for (const Line& line : golden("golden_small.txt")) {
    INFO(line.text);
    CHECK(bpe.encode(line.text) == line.bpe);
    CHECK(bpe.decode(line.bpe) == line.text);
  }
}

TEST_CASE("400 texts have the words and WordPiece ids of another implementation", "[weights]") {
  const auto pieces = WordPiece::load(folder + "small/vocab.txt");
  for (const Line& line : golden("golden_small.txt")) {
    INFO(line.text);
    CHECK(words_of(line.text) == line.words);
    CHECK(pieces.encode(line.text) == line.pieces);
  }
}

}  // namespace heed::test
