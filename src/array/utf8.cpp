// utf8.cpp: texts on one line, whatever is in them.

#include "heed/array/utf8.hpp"

#include <algorithm>
#include <cstdio>

namespace heed {
namespace {

std::string hexadecimal(const char* format, std::uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, format, static_cast<unsigned>(value));
  return text;
}

std::string spelled(std::uint32_t c) {
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  if (c == '\r') return "\\r";
  return hexadecimal(c < 0x100 ? "\\x%02x" : "\\u%04x", c);
}

}  // namespace

std::string spelled_out(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const auto [c, size] = character_in(text, i);
    if (size == 0)
      result += spelled(static_cast<unsigned char>(text[i]));
    else if (is_printable(c))
      result += text.substr(i, size);
    else
      result += spelled(c);
    i += std::max<std::size_t>(size, 1);
  }
  return result;
}

}  // namespace heed
