// utf8.cpp: UTF-8 encoding, and error messages for invalid UTF-8.

#include "heed/base/utf8.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <utility>

#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace heed {
namespace {

// Whether the text ends inside the character that begins at byte `begin`. A truncated character can
// be completed with continuation bytes: either all 0x80 (the smallest) or all 0xbf (the largest).
bool is_cut_off(std::string_view text, std::size_t begin) {
  const std::string_view rest = text.substr(begin);
  for (const char fill : {'\x80', '\xbf'})
    if (decode_utf8(std::string(rest.substr(0, 4)) + std::string(3, fill), 0).size > rest.size())
      return true;
  return false;
}

// The encoding whose byte order mark begins the text, or "".
std::string_view marked_encoding(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> marks[] = {
      {{"\xff\xfe\0\0", 4}, "UTF-32"},
      {{"\0\0\xfe\xff", 4}, "UTF-32"},
      {"\xff\xfe", "UTF-16"},
      {"\xfe\xff", "UTF-16"}};
  for (const auto& [mark, encoding] : marks)
    if (text.substr(0, mark.size()) == mark) return encoding;
  return "";
}

}  // namespace

void throw_invalid_utf8(std::string_view text, std::size_t position) {
  if (const std::string_view encoding = marked_encoding(text); !encoding.empty())
    throw_error("is ", encoding,
                ", as its byte order mark says, not UTF-8; convert it with iconv -f ", encoding,
                " -t UTF-8, or use --bytes");
  const std::string byte = hexadecimal("0x%02llx", static_cast<unsigned char>(text[position]));
  if (is_cut_off(text, position))
    throw_error("not UTF-8: the text ends inside the character that begins at byte ", position,
                " (", byte, "); convert the text or use --bytes");
  throw_error("not UTF-8: byte ", position, " is ", byte, "; convert the text or use --bytes");
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = decode_utf8(text, i).size;
    if (size == 0) return false;
    i += size;
  }
  return true;
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
  utf8proc_uint8_t bytes[4];
  const auto size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes);
  text.append(bytes, bytes + size);
}

}  // namespace heed
