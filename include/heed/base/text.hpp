// text.hpp: numbers, durations and names as text that lines up in a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

// "2.5000": with a decimal point in every locale; "nan", "inf" and "-inf" as such. A value that
// rounds to zero has no minus sign.
std::string decimal(double value, int decimals);
std::string scientific(double value, int decimals);  // "2.5000e-07"
std::string grouped(double value);                   // rounded, in groups of three: "18,400"

// The shortest text that reads back as the same number.
std::string exact(double value);

// "1 layer", "2 layers", "18,400 tokens".
std::string counted(std::size_t count, std::string_view noun);

// "0:07", "1:12" (minutes and seconds), "2 h 05 min", "3 d 04 h"; "?" when negative, infinite or
// not a number.
std::string duration(double seconds);

// The name with everything spelled out that would move the cursor, turn the line round or not be
// seen: a newline is "\n", a lone space "␣", a mark of writing direction "\u202e", a byte that is
// not UTF-8 "\xff".
std::string printable(std::string_view name);

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
std::string escaped(std::string_view text);

// The text as an error message shows it: escaped, in single quotes, cut after about 80 bytes with
// "...". It need not be UTF-8. (Not named `quoted`: for a std::string that would be std::quoted.)
std::string in_quotes(std::string_view text);

// The parts of a text between separators: one more than there are separators.
std::vector<std::string> split(std::string_view text, char separator);

// The lines of a text, without their line ends.
std::vector<std::string> lines_of(std::string_view text);

// The parts with the separator between them.
std::string joined(const std::vector<std::string>& parts, std::string_view separator);

// Columns a terminal gives the UTF-8 text: 2 for Chinese, Japanese and Korean characters and
// emoji, 0 for combining marks.
std::size_t display_width(std::string_view text);

// Filled with spaces up to `width` columns; longer text stays as it is.
std::string pad_left(std::string_view text, std::size_t width);
std::string pad_right(std::string_view text, std::size_t width);

// At most `width` columns, the last of them "…" when something was cut away.
std::string truncated(std::string_view text, std::size_t width);

}  // namespace heed
