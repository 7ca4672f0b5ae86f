// utf8.hpp: which bytes of a text are one character, which code point it is, and what of it may be
// printed.
#pragma once

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

// Not so what would break or turn round a message of one line, or be there unseen: control
// characters, line separators, marks of writing direction, spaces of no width. But the joiner
// U+200D and its opposite U+200C are: they make one emoji of several and shape letters inside
// words, which would fall apart without them.
constexpr bool is_printable(std::uint32_t c) {
  return c >= 0x20 && !(c >= 0x7f && c < 0xa0) && c != 0x61c && c != 0x200b && c != 0x200e &&
         c != 0x200f && !(c >= 0x2028 && c <= 0x202e) && !(c >= 0x2066 && c <= 0x2069) &&
         c != 0xfeff;
}

// The text with everything that is not printable spelled out: a newline is "\n", an escape "\x1b",
// a mark of writing direction "\u202e", a byte that is not UTF-8 "\xff".
std::string spelled_out(std::string_view text);

}  // namespace heed
