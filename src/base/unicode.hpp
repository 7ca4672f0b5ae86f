// unicode.hpp: properties of Unicode code points, lower case, and normalization (NFD and NFC).
#pragma once

#include <string>
#include <string_view>

namespace heed {

// The general category of a code point is one of two letters: Lu, Nd, Mn, Zs, Cc, ... (Unicode
// Standard, section 4.5). A surrogate or a value above U+10FFFF has none of the properties below.
bool is_letter(char32_t c);             // category L: Lu, Ll, Lt, Lm or Lo
bool is_number(char32_t c);             // category N: Nd, Nl or No
bool is_punctuation(char32_t c);        // category P: Pc, Pd, Ps, Pe, Pi, Pf or Po
bool is_nonspacing_mark(char32_t c);    // category Mn
bool is_control_character(char32_t c);  // category Cc
bool is_format_character(char32_t c);   // category Cf
bool is_private_use(char32_t c);        // category Co

// Whether c has the property White_Space: \t \n \v \f \r, space, U+0085, U+00A0, U+1680, U+2000 to
// U+200A, U+2028, U+2029, U+202F, U+205F and U+3000. Python's `regex` matches the same 25 code
// points with \s; JavaScript adds U+FEFF and leaves U+0085 out.
bool is_white_space(char32_t c);

// The code points of a UTF-8 text. Throws Error `not UTF-8: ...` as next_code_point does.
std::u32string code_points_of(std::string_view text);

// The UTF-8 text of the code points. Throws Error for a surrogate or a value above U+10FFFF.
std::string utf8_of(std::u32string_view code_points);

// The text in lower case, as Python's str.lower() and JavaScript's toLowerCase() make it: 'İ'
// becomes two code points ('i' and U+0307), and 'Σ' becomes 'ς' at the end of a word, 'σ' elsewhere
// (Unicode Standard, section 3.13, condition Final_Sigma). Takes linear time.
std::u32string lower_case(std::u32string_view text);

// Canonical decomposition, Normalization Form D (Unicode Standard Annex 15): 'é' becomes 'e' and
// U+0301, a Hangul syllable becomes its two or three letters, and the marks after a character are
// sorted by combining class. Takes O(n log n) time for n marks in a row.
std::u32string decomposed(std::u32string_view text);

// A UTF-8 text in Normalization Form C, canonical decomposition followed by composition: 'e' and
// U+0301 become 'é'. Throws Error `not UTF-8: ...`.
std::string composed(std::string_view text);

}  // namespace heed
