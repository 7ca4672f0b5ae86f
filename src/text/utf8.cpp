// utf8.cpp: which byte may follow which (Unicode Standard, table 3-7), and nothing else is taken.

#include "heed/text/utf8.hpp"

#include <algorithm>
#include <cstdio>

#include "heed/array/error.hpp"

namespace heed {
namespace {

unsigned byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

std::string hexadecimal(unsigned byte) {
  char text[8];
  std::snprintf(text, sizeof text, "0x%02x", byte);
  return text;
}

[[noreturn]] void refuse_byte(std::string_view text, std::size_t i) {
  refuse("not UTF-8: byte ", i, " is ", hexadecimal(byte_at(text, i)),
         "; convert the text or use --bytes");
}

[[noreturn]] void refuse_end(std::string_view text, std::size_t i) {
  refuse("not UTF-8: the text ends inside the character that begins at byte ", i, " (",
         hexadecimal(byte_at(text, i)), "); convert the text or use --bytes");
}

// What a first byte asks of those that follow. The second byte's range is what excludes overlong
// forms, surrogates and numbers above U+10FFFF; a third and a fourth are 0x80 to 0xbf.
struct Lead {
  std::size_t length;  // of the whole sequence; 0 when no sequence begins so
  unsigned low, high;  // the second byte's range
};

Lead lead(unsigned first) {
  if (first < 0x80) return {1, 0, 0};
  if (first < 0xc2) return {0, 0, 0};
  if (first < 0xe0) return {2, 0x80, 0xbf};
  if (first < 0xf0) return {3, first == 0xe0 ? 0xa0u : 0x80u, first == 0xed ? 0x9fu : 0xbfu};
  if (first < 0xf5) return {4, first == 0xf0 ? 0x90u : 0x80u, first == 0xf4 ? 0x8fu : 0xbfu};
  return {0, 0, 0};
}

}  // namespace

std::uint32_t next_code_point(std::string_view text, std::size_t& position) {
  const std::size_t begin = position;
  const unsigned first = byte_at(text, begin);
  const Lead kind = lead(first);
  if (kind.length == 0) refuse_byte(text, begin);
  std::uint32_t c = kind.length == 1 ? first : first & (0x7fu >> kind.length);
  for (std::size_t i = 1; i < kind.length; ++i) {
    if (begin + i == text.size()) refuse_end(text, begin);
    const unsigned byte = byte_at(text, begin + i);
    if (byte < (i == 1 ? kind.low : 0x80u) || byte > (i == 1 ? kind.high : 0xbfu))
      refuse_byte(text, begin);
    c = (c << 6) | (byte & 0x3f);
  }
  position = begin + kind.length;
  return c;
}

std::size_t count_code_points(std::string_view text) {
  const auto begins = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; };
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins));
}

void append_utf8(std::string& text, std::uint32_t c) {
  if (!is_code_point(c))
    refuse("append_utf8: ", c, " is not a code point; UTF-8 has no form for it");
  const auto add = [&](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  const auto rest = [&](unsigned shift) { add(0x80 | ((c >> shift) & 0x3f)); };
  if (c < 0x80) return add(c);
  if (c < 0x800) return add(0xc0 | (c >> 6)), rest(0);
  if (c < 0x10000) return add(0xe0 | (c >> 12)), rest(6), rest(0);
  add(0xf0 | (c >> 18)), rest(12), rest(6), rest(0);
}

}  // namespace heed
