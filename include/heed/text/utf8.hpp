// utf8.hpp: characters of a UTF-8 text as code points, strictly, and back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "heed/array/utf8.hpp"

namespace heed {

inline constexpr std::uint32_t last_code_point = 0x10ffff;

// Whether UTF-8 has a form for it: at most U+10FFFF and not a surrogate (U+D800 to U+DFFF).
constexpr bool is_code_point(std::uint32_t c) {
  return c <= last_code_point && (c < 0xd800 || c > 0xdfff);
}

// Throws Error that says what is wrong with the text at `position`, where no character begins:
// "not UTF-8: byte 3 is 0xe9; convert the text or use --bytes", counting bytes from 0, or
// "not UTF-8: the text ends inside the character that begins at byte 3 (0xc3); convert ...".
[[noreturn]] void refuse_utf8(std::string_view text, std::size_t position);

// The code point whose bytes begin at `position`, which must be less than text.size() and is moved
// to the next one's. Throws Error as refuse_utf8 does for what character_in does not take.
inline std::uint32_t next_code_point(std::string_view text, std::size_t& position) {
  const Character character = character_in(text, position);
  if (character.size == 0) refuse_utf8(text, position);
  position += character.size;
  return character.code_point;
}

// Whether the `count` bytes from `at` on are all there, and each is a character.
inline bool is_ascii(std::string_view text, std::size_t at, std::size_t count) {
  if (count > text.size() - at) return false;
  unsigned char bits = 0;
  for (const char byte : text.substr(at, count)) bits |= static_cast<unsigned char>(byte);
  return bits < 0x80;
}

// Calls visit(code point) for each character of `text`; throws as next_code_point does.
template <class Visit>
void for_each_code_point(std::string_view text, Visit&& visit) {
  constexpr std::size_t stride = 16;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = std::min(i + stride, text.size());
    if (is_ascii(text, i, stride))
      for (; i < end; ++i) visit(std::uint32_t{static_cast<unsigned char>(text[i])});
    else
      while (i < end) visit(next_code_point(text, i));
  }
}

// A text for an error message: in quotes, on one line (see spelled_out), and not too long: about 40
// bytes of it, then "...". It need not be UTF-8.
std::string quoted(std::string_view text);

// How many characters a valid text has.
std::size_t count_code_points(std::string_view text);

// Adds c's bytes, one to four. Throws Error when it is no code point.
void append_utf8(std::string& text, std::uint32_t c);

}  // namespace heed
