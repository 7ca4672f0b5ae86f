// utf8.cpp: fuzz test of UTF-8 decoding, vocabularies and printable text.

#include "heed/base/utf8.hpp"

#include "fuzz.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/text/vocabulary.hpp"

namespace {

using heed_fuzz::expect;

// A second implementation of UTF-8 validation, from RFC 3629: decodes each code point and checks
// that it has the smallest number of bytes.
bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if ((first >= 0x80 && first < 0xc0) || first >= 0xf8 || size > text.size() - i) return false;
    std::uint32_t c = size == 1 ? first : first & (0x7fu >> size);
    for (std::size_t k = 1; k < size; ++k) {
      const auto byte = static_cast<unsigned char>(text[i + k]);
      if ((byte & 0xc0) != 0x80) return false;
      c = c << 6 | (byte & 0x3f);
    }
    const std::size_t needed = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    if (needed != size || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return false;
    i += size;
  }
  return true;
}

// Decodes the text and encodes it again.
std::string round_trip(std::string_view text) {
  std::string encoded;
  std::size_t count = 0;
  heed::for_each_code_point(text, [&](std::uint32_t c) {
    heed::append_utf8(encoded, c);
    ++count;
  });
  expect(heed::count_code_points(text) == count,
         "count_code_points counts the decoded code points");
  return encoded;
}

void check_vocabulary_of(std::string_view text, heed::Unit unit) {
  const heed::Vocabulary vocabulary = heed::Vocabulary::of_text(text, unit);
  expect(vocabulary.decode(vocabulary.encode(text)) == text, "decoding the tokens gives the text");
  expect(heed::Vocabulary(unit, vocabulary.characters()) == vocabulary,
         "a vocabulary equals one made from its values");
}

void check_printable(std::string_view text) {
  const std::string shown = heed::printable(text), part = heed::truncated(text, 5);
  expect(is_utf8(shown), "printable text is UTF-8");
  expect(shown.find('\n') == shown.npos, "printable text is one line");
  expect(heed::display_width(part) <= 5, "truncated text has at most the given width");
}

// Makes a vocabulary from 32-bit values of four bytes each.
void check_vocabulary_of_values(std::string_view text) {
  std::vector<std::uint32_t> values(text.size() / 4);
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t k = 0; k < 4; ++k)
      values[i] = values[i] << 8 | static_cast<unsigned char>(text[4 * i + k]);
  const heed::Vocabulary vocabulary(heed::Unit::byte, values);
  expect(vocabulary.characters() == values, "a vocabulary keeps its values");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static std::size_t count = 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_printable(text);
  check_vocabulary_of(text, heed::Unit::byte);
  try {
    const std::string encoded = round_trip(text);
    expect(is_utf8(text) && encoded == text, "only valid UTF-8 is decoded");
  } catch (const heed::Error& error) {
    expect(!is_utf8(text), "valid UTF-8 is decoded");
    heed_fuzz::expect_one_line(error);
  }
  try {
    check_vocabulary_of_values(text);
    if (++count % 64 == 0) check_vocabulary_of(text, heed::Unit::code_point);  // needs 1 MB
  } catch (const heed::Error& error) {
    heed_fuzz::expect_one_line(error);
  }
  return 0;
}
