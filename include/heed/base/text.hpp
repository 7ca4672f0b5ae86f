// text.hpp: functions that format numbers, and that escape, split, measure and pad text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

// Formats a number in fixed notation, with a decimal point in every locale ("2.5000"), or as "nan",
// "inf", "-inf". A value that rounds to zero has no minus sign.
std::string decimal(double value, int decimals);
std::string scientific(double value, int decimals);  // such as "2.5000e-07"
std::string significant(double value, int digits);   // %g of printf: "0.25", "2.5e-07"
std::string grouped(double value);  // an integer with thousands separators: "18,400"

// Formats one number with a printf format for unsigned long long, such as "0x%02llx".
std::string hexadecimal(const char* format, unsigned long long value);

// The shortest decimal text that parses back to the same double.
std::string exact(double value);

// A count and its noun, singular or plural: "1 layer", "2 layers", "18,400 tokens".
std::string counted(std::size_t count, std::string_view noun);

// A duration: "0:07", "1:12" (minutes and seconds), "2 h 05 min", "3 d 04 h"; "?" if negative,
// infinite or NaN.
std::string duration(double seconds);

// Like escaped(), except that of a name without visible characters all are shown: a space becomes
// "␣", and others, such as the joiner U+200D or a variation selector, become escape sequences.
std::string printable(std::string_view name);

// Whether a code point can be printed within a line of text: false for control characters, line
// separators, directional marks, zero-width spaces, tags and other invisible characters, but true
// for the joiners U+200C and U+200D, because words and composed emoji need them.
constexpr bool is_printable(std::uint32_t c) {
  return c >= 0x20 && !(c >= 0x7f && c < 0xa0) && c != 0xad && c != 0x61c && c != 0x180e &&
         c != 0x200b && c != 0x200e && c != 0x200f && !(c >= 0x2028 && c <= 0x202e) &&
         !(c >= 0x2060 && c <= 0x206f) && c != 0xfeff && !(c >= 0xfff9 && c <= 0xfffb) &&
         c != 0xfffe && c != 0xffff &&  // not allowed in XML, and so in SVG
         !(c >= 0xe0000 && c <= 0xe007f);
}

// Replaces every code point that is not printable by an escape sequence: a newline by "\n", ESC by
// "\x1b", a directional mark by "\u202e", a tag by "\U000e0041", and a byte that is not UTF-8 by
// its value, "\xff".
std::string escaped(std::string_view text);
std::string escaped_lines(std::string_view text);  // like escaped(), but newlines and tabs stay

// Formats a text for an error message: escapes it, cuts it after about 80 bytes with "...", and
// puts it in single quotes. The text need not be UTF-8. (If in_quotes were named `quoted`, a call
// with a std::string would be ambiguous, because of std::quoted.)
std::string in_quotes(std::string_view text);

// The parts of a text between separators. A text with N separators has N + 1 parts.
std::vector<std::string> split(std::string_view text, char separator);

// The lines of a text, without the newline characters.
std::vector<std::string> lines_of(std::string_view text);

// Views of the words of a text, which are separated by white space (space, \t, \n, \v, \f, \r).
std::vector<std::string_view> words_of(std::string_view text);

// Concatenates the parts, with the separator between them.
std::string joined(const std::vector<std::string>& parts, std::string_view separator);

// The number of terminal columns of a UTF-8 text: a Chinese, Japanese or Korean character or an
// emoji takes 2, a combining mark 0, any other character 1.
std::size_t display_width(std::string_view text);

// pad_left and pad_right pad a text with spaces to `width` columns. Longer text is unchanged.
std::string pad_left(std::string_view text, std::size_t width);
std::string pad_right(std::string_view text, std::size_t width);

// Truncates the text to at most `width` columns. A truncated text ends in "…".
std::string truncated(std::string_view text, std::size_t width);

}  // namespace heed
