// utf8.hpp: strict UTF-8 decoding and encoding of Unicode code points.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heed {

// A character decoded from UTF-8.
struct Utf8Character {
  std::uint32_t code_point;  // 0 for invalid UTF-8
  std::uint32_t size;        // number of bytes, 1 to 4; 0 for invalid UTF-8
};

// Decodes the character that starts at byte `at`, which must be less than text.size(). Accepts only
// the well-formed sequences of the Unicode Standard (table 3-7): no overlong forms, no surrogates,
// nothing above U+10FFFF. Defined in the header so that the loops over a text can inline it.
inline Utf8Character decode_utf8(std::string_view text, std::size_t at) {
  constexpr Utf8Character invalid{0, 0};
  const std::size_t remaining = text.size() - at;
  const auto byte = [&](std::size_t i) {
    return std::uint32_t{static_cast<unsigned char>(text[at + i])};
  };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  if (first < 0xc2 || remaining < 2) return invalid;
  const std::uint32_t second = byte(1) ^ 0x80;  // `second` < 0x40 if byte(1) is a continuation byte
  if (first < 0xe0) return second < 0x40 ? Utf8Character{(first & 0x1f) << 6 | second, 2} : invalid;
  if (remaining < 3) return invalid;
  const std::uint32_t third = byte(2) ^ 0x80;
  if (first < 0xf0) {
    const std::uint32_t c = (first & 0xf) << 12 | second << 6 | third;
    return (second | third) < 0x40 && c >= 0x800 && c - 0xd800 >= 0x800 ? Utf8Character{c, 3}
                                                                        : invalid;
  }
  if (remaining < 4) return invalid;
  const std::uint32_t fourth = byte(3) ^ 0x80;
  const std::uint32_t c = (first & 0xf) << 18 | second << 12 | third << 6 | fourth;
  return (second | third | fourth) < 0x40 && c - 0x10000 < 0x100000 ? Utf8Character{c, 4} : invalid;
}

inline constexpr std::uint32_t last_code_point = 0x10ffff;  // the largest code point

// Whether UTF-8 can encode c: at most U+10FFFF and not a surrogate (U+D800 to U+DFFF).
constexpr bool is_code_point(std::uint32_t c) {
  return c <= last_code_point && (c < 0xd800 || c > 0xdfff);
}

// Throws Error for the invalid byte at `position`, counted from 0:
// "not UTF-8: byte 3 is 0xe9; convert the text or use --bytes", or
// "not UTF-8: the text ends inside the character that begins at byte 3 (0xc3); convert ...". Names
// UTF-16 and UTF-32 if the text begins with their byte order mark.
[[noreturn]] void throw_invalid_utf8(std::string_view text, std::size_t position);

// Returns the code point at byte `position`, which must be less than text.size(), and advances
// `position` past it. Throws the same errors as throw_invalid_utf8 for invalid UTF-8.
inline std::uint32_t next_code_point(std::string_view text, std::size_t& position) {
  const Utf8Character character = decode_utf8(text, position);
  if (character.size == 0) throw_invalid_utf8(text, position);
  position += character.size;
  return character.code_point;
}

// Whether the text has at least `count` bytes starting at offset `at`, all of them ASCII.
inline bool is_ascii(std::string_view text, std::size_t at, std::size_t count) {
  if (count > text.size() - at) return false;
  unsigned char bits = 0;
  for (const char byte : text.substr(at, count)) bits |= static_cast<unsigned char>(byte);
  return bits < 0x80;
}

// Calls visit(code point) for each character of `text`; throws the same errors as next_code_point.
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

// Whether the whole text is valid UTF-8.
bool is_utf8(std::string_view text);

// The bytes of the UTF-8 character at `start`, or one byte if no valid character starts there.
std::string_view character_at(std::string_view text, std::size_t start);

// The number of characters of a valid UTF-8 text.
std::size_t count_code_points(std::string_view text);

// Appends the UTF-8 encoding of c, one to four bytes. Throws Error unless is_code_point(c).
void append_utf8(std::string& text, std::uint32_t c);

}  // namespace heed
