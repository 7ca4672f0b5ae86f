// tokenizer_json.cpp: fuzz test of tokenizer.json, and of encoding with it.
//
// The input is a tokenizer.json and a text, separated by a byte 0xff, which UTF-8 has not.

#include <string>
#include <vector>

#include "base/unicode.hpp"
#include "fuzz.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "text/byte_level_bpe.hpp"

namespace {

using heed_fuzz::expect;

// The text of the ids, without the token with which encode() begins each text.
std::string decoded(const heed::ByteLevelBpe& bpe, std::vector<std::size_t> ids) {
  if (const auto begin = bpe.begin_of_text()) {
    expect(!ids.empty() && ids[0] == *begin, "a text begins with its token");
    ids.erase(ids.begin());
  }
  return bpe.decode(ids);
}

void check(const std::string& json, const std::string& text) {
  const bool composes = heed::TokenizerJson(json, "tokenizer.json").composes;
  const auto bpe = heed::ByteLevelBpe::from_tokenizer_json(json);
  const auto form = [&](const std::string& x) { return composes ? heed::composed(x) : x; };
  expect(form(decoded(bpe, bpe.encode(text))) == form(text), "decode is the inverse of encode");
  bpe.encode(text, heed::SpecialTokens::as_tokens);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  std::vector<std::string> parts = heed::split({reinterpret_cast<const char*>(data), size}, '\xff');
  parts.resize(2);
  try {
    check(parts[0], parts[1]);
  } catch (const heed::Error& error) {
    heed_fuzz::expect_one_line(error);
  }
  return 0;
}
