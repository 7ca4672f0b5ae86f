// format.hpp: numbers, durations and names as text that lines up in a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heed {

// "2.5000": with a decimal point in every locale; "nan", "inf" and "-inf" as such. A value that
// rounds to zero has no minus sign.
std::string decimal(double value, int decimals);
std::string scientific(double value, int decimals);  // "2.5000e-07"
std::string grouped(double value);                   // rounded, in groups of three: "18,400"

// "0:07", "1:12" (minutes and seconds), "2 h 05 min", "3 d 04 h"; "?" when negative, infinite or
// not a number.
std::string duration(double seconds);

// The name with everything spelled out that would move the cursor, turn the line round or not be
// seen: a newline is "\n", a lone space "␣", a mark of writing direction "\u202e", a byte that is
// not UTF-8 "\xff".
std::string visible(std::string_view name);

// Columns a terminal gives the UTF-8 text: 2 for Chinese, Japanese and Korean characters and
// emoji, 0 for combining marks.
std::size_t display_width(std::string_view text);

// The UTF-8 character that starts at `start`; one byte where the text is not UTF-8.
std::string_view character_at(std::string_view text, std::size_t start);

// Filled with spaces up to `width` columns; longer text stays as it is.
std::string pad_left(std::string_view text, std::size_t width);
std::string pad_right(std::string_view text, std::size_t width);

// At most `width` columns, the last of them "…" when something was cut away.
std::string shortened(std::string_view text, std::size_t width);

}  // namespace heed
