// utf8.cpp: what is wrong with a text that is not UTF-8, and code points as bytes.

#include "heed/base/utf8.hpp"

#include <algorithm>
#include <cstdio>

#include "heed/base/error.hpp"

namespace heed {
namespace {

// Whether more bytes would have made a character: each beginning that is well formed goes on with
// the lowest or with the highest byte that can continue one.
bool ends_inside(std::string_view text, std::size_t begin) {
  const std::string_view rest = text.substr(begin);
  for (const char fill : {'\x80', '\xbf'})
    if (character_in(std::string(rest.substr(0, 4)) + std::string(3, fill), 0).size > rest.size())
      return true;
  return false;
}

}  // namespace

void throw_invalid_utf8(std::string_view text, std::size_t position) {
  char byte[8];
  std::snprintf(byte, sizeof byte, "0x%02x", static_cast<unsigned char>(text[position]));
  if (ends_inside(text, position))
    throw_error("not UTF-8: the text ends inside the character that begins at byte ", position,
                " (", byte, "); convert the text or use --bytes");
  throw_error("not UTF-8: byte ", position, " is ", byte, "; convert the text or use --bytes");
}

std::string_view character_at(std::string_view text, std::size_t start) {
  return text.substr(start, std::max(character_in(text, start).size, 1u));
}

std::size_t count_code_points(std::string_view text) {
  const auto begins = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; };
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins));
}

void append_utf8(std::string& text, std::uint32_t c) {
  if (!is_code_point(c))
    throw_error("append_utf8: ", c, " is not a code point; UTF-8 has no form for it");
  const auto add = [&](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  const auto rest = [&](unsigned shift) { add(0x80 | ((c >> shift) & 0x3f)); };
  if (c < 0x80) return add(c);
  if (c < 0x800) return add(0xc0 | (c >> 6)), rest(0);
  if (c < 0x10000) return add(0xe0 | (c >> 12)), rest(6), rest(0);
  add(0xf0 | (c >> 18)), rest(12), rest(6), rest(0);
}

}  // namespace heed
