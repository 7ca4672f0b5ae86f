// utf8.hpp: characters of a UTF-8 text as code points, strictly, and back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heed {

struct Character {
  std::uint32_t code_point;
  std::uint32_t size;  // in bytes, 1 to 4; 0 when no character begins there
};

// The character whose bytes begin at `at`, which must be less than text.size(). Only the
// well-formed sequences of the Unicode Standard (table 3-7) are characters: no overlong forms, no
// surrogates, nothing above U+10FFFF. Here, and not in a .cpp, for texts of 1 GB.
inline Character character_in(std::string_view text, std::size_t at) {
  constexpr Character none{0, 0};
  const std::size_t left = text.size() - at;
  const auto byte = [&](std::size_t i) {
    return std::uint32_t{static_cast<unsigned char>(text[at + i])};
  };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  if (first < 0xc2 || left < 2) return none;
  const std::uint32_t second = byte(1) ^ 0x80;  // below 0x40 when it continues a character
  if (first < 0xe0) return second < 0x40 ? Character{(first & 0x1f) << 6 | second, 2} : none;
  if (left < 3) return none;
  const std::uint32_t third = byte(2) ^ 0x80;
  if (first < 0xf0) {
    const std::uint32_t c = (first & 0xf) << 12 | second << 6 | third;
    return (second | third) < 0x40 && c >= 0x800 && c - 0xd800 >= 0x800 ? Character{c, 3} : none;
  }
  if (left < 4) return none;
  const std::uint32_t fourth = byte(3) ^ 0x80;
  const std::uint32_t c = (first & 0xf) << 18 | second << 12 | third << 6 | fourth;
  return (second | third | fourth) < 0x40 && c - 0x10000 < 0x100000 ? Character{c, 4} : none;
}

inline constexpr std::uint32_t last_code_point = 0x10ffff;

// Whether UTF-8 has a form for it: at most U+10FFFF and not a surrogate (U+D800 to U+DFFF).
constexpr bool is_code_point(std::uint32_t c) {
  return c <= last_code_point && (c < 0xd800 || c > 0xdfff);
}

// Throws Error that says what is wrong with the text at `position`, where no character begins:
// "not UTF-8: byte 3 is 0xe9; convert the text or use --bytes", counting bytes from 0, or
// "not UTF-8: the text ends inside the character that begins at byte 3 (0xc3); convert ...".
[[noreturn]] void throw_invalid_utf8(std::string_view text, std::size_t position);

// The code point whose bytes begin at `position`, which must be less than text.size() and is moved
// to the next one's. Throws Error as throw_invalid_utf8 does for what character_in does not take.
inline std::uint32_t next_code_point(std::string_view text, std::size_t& position) {
  const Character character = character_in(text, position);
  if (character.size == 0) throw_invalid_utf8(text, position);
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

// The UTF-8 character that starts at `start`; one byte where the text is not UTF-8.
std::string_view character_at(std::string_view text, std::size_t start);

// How many characters a valid text has.
std::size_t count_code_points(std::string_view text);

// Adds c's bytes, one to four. Throws Error when it is no code point.
void append_utf8(std::string& text, std::uint32_t c);

}  // namespace heed
