// utf8.cpp: UTF-8 encoding, and error messages for invalid UTF-8.

#include "heed/base/utf8.hpp"

#include <utf8proc.h>

#include <algorithm>

#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace heed {
namespace {

// Whether the text ends with an incomplete character at `begin`. An incomplete well-formed sequence
// becomes valid with more bytes, either all 0x80 or all 0xbf.
bool is_cut_off(std::string_view text, std::size_t begin) {
  const std::string_view rest = text.substr(begin);
  for (const char fill : {'\x80', '\xbf'})
    if (decode_utf8(std::string(rest.substr(0, 4)) + std::string(3, fill), 0).size > rest.size())
      return true;
  return false;
}

}  // namespace

void throw_invalid_utf8(std::string_view text, std::size_t position) {
  const std::string byte = hexadecimal("0x%02x", static_cast<unsigned char>(text[position]));
  if (is_cut_off(text, position))
    throw_error("not UTF-8: the text ends inside the character that begins at byte ", position,
                " (", byte, "); convert the text or use --bytes");
  throw_error("not UTF-8: byte ", position, " is ", byte, "; convert the text or use --bytes");
}

std::string_view character_at(std::string_view text, std::size_t start) {
  return text.substr(start, std::max(decode_utf8(text, start).size, 1u));
}

std::size_t count_code_points(std::string_view text) {
  const auto is_start = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; };
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), is_start));
}

void append_utf8(std::string& text, std::uint32_t c) {
  if (!is_code_point(c))
    throw_error("append_utf8: ", c, " is not a code point that UTF-8 can encode");
  const auto add = [&](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  const auto add_bits = [&](unsigned shift) { add(0x80 | ((c >> shift) & 0x3f)); };
  if (c < 0x80) return add(c);
  if (c < 0x800) return add(0xc0 | (c >> 6)), add_bits(0);
  if (c < 0x10000) return add(0xe0 | (c >> 12)), add_bits(6), add_bits(0);
  add(0xf0 | (c >> 18)), add_bits(12), add_bits(6), add_bits(0);
}

std::size_t terminal_columns(std::string_view character) {
  const Utf8Character decoded = decode_utf8(character, 0);
  if (decoded.size == 0) return 1;  // a byte that is not UTF-8
  const int columns = utf8proc_charwidth(static_cast<utf8proc_int32_t>(decoded.code_point));
  return static_cast<std::size_t>(columns);
}

}  // namespace heed
