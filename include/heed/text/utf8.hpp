// utf8.hpp: characters of a UTF-8 text as code points, strictly, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heed {

inline constexpr std::uint32_t last_code_point = 0x10ffff;

// Whether UTF-8 has a form for it: at most U+10FFFF and not a surrogate (U+D800 to U+DFFF).
constexpr bool is_code_point(std::uint32_t c) {
  return c <= last_code_point && (c < 0xd800 || c > 0xdfff);
}

// The code point whose bytes begin at `position`, which must be less than text.size() and is moved
// to the next one's. Only the well-formed sequences of the Unicode Standard (table 3-7) are taken:
// no overlong forms, no surrogates, nothing above U+10FFFF. Throws Error
// "not UTF-8: byte 3 is 0xe9; convert the text or use --bytes", counting bytes from 0, or
// "not UTF-8: the text ends inside the character that begins at byte 3 (0xc3); convert ...".
std::uint32_t next_code_point(std::string_view text, std::size_t& position);

// Calls visit(code point) for each character of `text`; throws as next_code_point does.
template <class Visit>
void for_each_code_point(std::string_view text, Visit&& visit) {
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      visit(std::uint32_t{byte});
      ++i;
    } else {
      visit(next_code_point(text, i));
    }
  }
}

// How many characters a valid text has.
std::size_t count_code_points(std::string_view text);

// Adds c's bytes, one to four. Throws Error when it is no code point.
void append_utf8(std::string& text, std::uint32_t c);

}  // namespace heed
