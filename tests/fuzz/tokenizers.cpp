// tokenizers.cpp: fuzz test of the vocabulary files of GPT-2 and BERT, and of encoding with them.
//
// The input is two files and a text, separated by bytes 0xff, which UTF-8 has not.

#include <string>
#include <vector>

#include "fuzz.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/base/utf8.hpp"
#include "heed/text/word_piece.hpp"
#include "text/byte_level_bpe.hpp"

namespace {

using heed_fuzz::expect;

// A vocabulary with all bytes, some merges, and pieces that continue words.
const std::string tests = HEED_TESTS_DIR "/weights/small/";
const std::string special = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = heed::decode_utf8(text, i).size;
    if (size == 0) return false;
    i += size;
  }
  return true;
}

// Calls `call`, whose errors must be one line. Returns whether it threw none.
template <class Call>
bool succeeds(const Call& call) {
  try {
    call();
    return true;
  } catch (const heed::Error& error) {
    heed_fuzz::expect_one_line(error);
    return false;
  }
}

void check_round_trip(const heed::ByteLevelBpe& bpe, const std::string& text) {
  std::string joined;
  for (const std::string_view chunk : heed::ByteLevelBpe::chunks_of(text)) {
    expect(!chunk.empty(), "no chunk is empty");
    joined += chunk;
  }
  expect(joined == text, "the chunks make the text");
  for (const heed::SpecialTokens special_token :
       {heed::SpecialTokens::as_text, heed::SpecialTokens::as_tokens})
    expect(bpe.decode(bpe.encode(text, special_token)) == text, "decode is the inverse of encode");
}

void check_ids(const heed::WordPiece& pieces, const std::string& text) {
  for (const std::size_t id : pieces.encode(text)) expect(id < pieces.size(), "ids are in range");
  const std::string normalized = heed::WordPiece::normalized(text);
  expect(is_utf8(normalized), "a normalized text is UTF-8");
  for (const std::string& word : heed::WordPiece::words_of(normalized))
    expect(!word.empty() && !pieces.pieces_of(word).empty(), "a word has pieces");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const auto all_bytes =
      heed::ByteLevelBpe::load(tests + "vocab.json", tests + "merges.txt");
  static const auto small = heed::WordPiece::load(tests + "vocab.txt");
  std::vector<std::string> parts = heed::split({reinterpret_cast<const char*>(data), size}, '\xff');
  parts.resize(3);
  const std::string &vocabulary = parts[0], &merges = parts[1], &text = parts[2];

  succeeds([&] { check_round_trip(heed::ByteLevelBpe::from_contents(vocabulary, merges), text); });
  succeeds([&] { check_ids(heed::WordPiece::from_contents(vocabulary), text); });
  succeeds([&] { check_ids(heed::WordPiece::from_contents(special + vocabulary), text); });
  expect(succeeds([&] { check_round_trip(all_bytes, text); }) == is_utf8(text),
         "UTF-8 is encoded, and nothing else");
  expect(succeeds([&] { check_ids(small, text); }) == is_utf8(text),
         "WordPiece encodes UTF-8, and nothing else");
  return 0;
}
