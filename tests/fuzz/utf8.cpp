// utf8.cpp: any bytes are a text or refused; what is text survives its vocabulary and charts.

#include "heed/base/utf8.hpp"

#include "fuzz.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/text/vocabulary.hpp"

namespace {

using heed_fuzz::expect;

// UTF-8 once more, from RFC 3629's definition: a code point is decoded, and must be written with
// exactly as many bytes as it needs.
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

std::string decoded(std::string_view text) {
  std::string again;
  std::size_t count = 0;
  heed::for_each_code_point(text, [&](std::uint32_t c) {
    heed::append_utf8(again, c);
    ++count;
  });
  expect(heed::count_code_points(text) == count, "code points are counted as they are read");
  return again;
}

void round_trip(std::string_view text, heed::Unit unit) {
  const heed::Vocabulary vocabulary = heed::Vocabulary::of_text(text, unit);
  expect(vocabulary.decode(vocabulary.encode(text)) == text, "a text comes back from its symbols");
  expect(heed::Vocabulary(unit, vocabulary.symbols()) == vocabulary, "a vocabulary comes back");
}

void show(std::string_view text) {
  const std::string shown = heed::printable(text), part = heed::truncated(text, 5);
  expect(is_utf8(shown), "what is shown is UTF-8");
  expect(shown.find('\n') == shown.npos, "what is shown is one line");
  expect(heed::display_width(part) <= 5, "what is shortened fits");
}

// Four bytes each are a symbol.
void any_vocabulary(std::string_view text) {
  std::vector<std::uint32_t> symbols(text.size() / 4);
  for (std::size_t i = 0; i < symbols.size(); ++i)
    for (std::size_t k = 0; k < 4; ++k)
      symbols[i] = symbols[i] << 8 | static_cast<unsigned char>(text[4 * i + k]);
  const heed::Vocabulary vocabulary(heed::Unit::byte, symbols);
  expect(vocabulary.symbols() == symbols, "a vocabulary keeps its symbols");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static std::size_t count = 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  show(text);
  round_trip(text, heed::Unit::byte);
  try {
    const std::string again = decoded(text);
    expect(is_utf8(text) && again == text, "what is read as UTF-8 is UTF-8");
  } catch (const heed::Error& error) {
    expect(!is_utf8(text), "what is UTF-8 is read");
    heed_fuzz::expect_one_line(error);
  }
  try {
    any_vocabulary(text);
    if (++count % 64 == 0) round_trip(text, heed::Unit::code_point);  // takes a megabyte
  } catch (const heed::Error& error) {
    heed_fuzz::expect_one_line(error);
  }
  return 0;
}
