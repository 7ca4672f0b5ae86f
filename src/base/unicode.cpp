// unicode.cpp: properties of code points, lower case and normalization with utf8proc.

#include "base/unicode.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "heed/base/utf8.hpp"

namespace heed {
namespace {

utf8proc_int32_t signed_value(char32_t c) { return static_cast<utf8proc_int32_t>(c); }

utf8proc_category_t category(char32_t c) {
  return is_code_point(c) ? utf8proc_category(signed_value(c)) : UTF8PROC_CATEGORY_CS;
}

bool is_between(utf8proc_category_t category, utf8proc_category_t first, utf8proc_category_t last) {
  return category >= first && category <= last;
}

struct Range {
  char32_t first;
  char32_t last;
};

// Whether c lies in one of the ranges, which are in ascending order.
template <std::size_t size>
bool is_in(const Range (&ranges)[size], char32_t c) {
  const auto after = std::upper_bound(std::begin(ranges), std::end(ranges), c,
                                      [](char32_t x, const Range& r) { return x < r.first; });
  return after != std::begin(ranges) && c <= std::prev(after)->last;
}

// The properties Other_Lowercase and Other_Uppercase of the file PropList.txt (Unicode 15): code
// points that have case although their category is not Lu, Ll or Lt.
constexpr Range other_cased[] = {
    {0xaa, 0xaa},       {0xba, 0xba},       {0x2b0, 0x2b8},     {0x2c0, 0x2c1},
    {0x2e0, 0x2e4},     {0x345, 0x345},     {0x37a, 0x37a},     {0x10fc, 0x10fc},
    {0x1d2c, 0x1d6a},   {0x1d78, 0x1d78},   {0x1d9b, 0x1dbf},   {0x2071, 0x2071},
    {0x207f, 0x207f},   {0x2090, 0x209c},   {0x2160, 0x217f},   {0x24b6, 0x24e9},
    {0x2c7c, 0x2c7d},   {0xa69c, 0xa69d},   {0xa770, 0xa770},   {0xa7f2, 0xa7f4},
    {0xa7f8, 0xa7f9},   {0xab5c, 0xab5f},   {0xab69, 0xab69},   {0x10780, 0x10780},
    {0x10783, 0x10785}, {0x10787, 0x107b0}, {0x107b2, 0x107ba}, {0x1e030, 0x1e06d},
    {0x1f130, 0x1f149}, {0x1f150, 0x1f169}, {0x1f170, 0x1f189}};

// The values MidLetter, MidNumLet and Single_Quote of the property Word_Break (Unicode 15).
constexpr Range inside_words[] = {
    {'\'', '\''},     {'.', '.'},       {':', ':'},       {0xb7, 0xb7},
    {0x387, 0x387},   {0x55f, 0x55f},   {0x5f4, 0x5f4},   {0x2018, 0x2019},
    {0x2024, 0x2024}, {0x2027, 0x2027}, {0xfe13, 0xfe13}, {0xfe52, 0xfe52},
    {0xfe55, 0xfe55}, {0xff07, 0xff07}, {0xff0e, 0xff0e}, {0xff1a, 0xff1a}};

// The properties Cased and Case_Ignorable (Unicode Standard, section 3.13, D135 and D136).
bool is_cased(char32_t c) {
  return is_between(category(c), UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LT) ||
         is_in(other_cased, c);
}

bool is_case_ignorable(char32_t c) {
  switch (category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return is_in(inside_words, c);
  }
}

int combining_class(char32_t c) { return utf8proc_get_property(signed_value(c))->combining_class; }

void append_decomposed(std::u32string& text, char32_t c) {
  utf8proc_int32_t parts[8];  // no canonical decomposition has more than four code points
  int last_boundary = 0;
  const auto size =
      utf8proc_decompose_char(signed_value(c), parts, 8, UTF8PROC_DECOMPOSE, &last_boundary);
  if (size <= 0) text += c;
  for (utf8proc_ssize_t i = 0; i < size; ++i) text += static_cast<char32_t>(parts[i]);
}

}  // namespace

bool is_letter(char32_t c) {
  return is_between(category(c), UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LO);
}
bool is_number(char32_t c) {
  return is_between(category(c), UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO);
}
bool is_punctuation(char32_t c) {
  return is_between(category(c), UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO);
}
bool is_nonspacing_mark(char32_t c) { return category(c) == UTF8PROC_CATEGORY_MN; }
bool is_control_character(char32_t c) { return category(c) == UTF8PROC_CATEGORY_CC; }
bool is_format_character(char32_t c) { return category(c) == UTF8PROC_CATEGORY_CF; }
bool is_private_use(char32_t c) { return category(c) == UTF8PROC_CATEGORY_CO; }

bool is_white_space(char32_t c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 ||
         is_between(category(c), UTF8PROC_CATEGORY_ZS, UTF8PROC_CATEGORY_ZP);
}

std::u32string code_points_of(std::string_view text) {
  std::u32string code_points;
  code_points.reserve(text.size());
  for_each_code_point(text, [&](std::uint32_t c) { code_points += static_cast<char32_t>(c); });
  return code_points;
}

std::string utf8_of(std::u32string_view code_points) {
  std::string text;
  text.reserve(code_points.size());
  for (const char32_t c : code_points) append_utf8(text, c);
  return text;
}

// A sigma is final if the nearest code point before it that is not case-ignorable is cased, and the
// nearest one after it is not. A sigma with a cased code point before it is undecided until the
// next one is known.
std::u32string lower_case(std::u32string_view text) {
  std::u32string lower;
  lower.reserve(text.size());
  bool after_cased = false;
  std::size_t undecided = lower.npos;  // its position in `lower`
  for (const char32_t c : text) {
    const bool ignorable = is_case_ignorable(c);
    if (!ignorable) {
      if (undecided != lower.npos) lower[undecided] = is_cased(c) ? U'σ' : U'ς';
      undecided = lower.npos;
    }
    if (c == U'Σ' && after_cased) undecided = lower.size();
    if (!ignorable) after_cased = is_cased(c);
    lower += static_cast<char32_t>(utf8proc_tolower(signed_value(c)));
    if (c == U'İ') lower += char32_t{0x307};
  }
  if (undecided != lower.npos) lower[undecided] = U'ς';
  return lower;
}

std::u32string decomposed(std::u32string_view text) {
  std::u32string result;
  result.reserve(text.size());
  for (const char32_t c : text) append_decomposed(result, c);
  const auto is_starter = [](char32_t c) { return combining_class(c) == 0; };
  const auto by_class = [](char32_t a, char32_t b) {
    return combining_class(a) < combining_class(b);
  };
  for (auto begin = result.begin(); begin != result.end();) {
    begin = std::find_if_not(begin, result.end(), is_starter);
    const auto end = std::find_if(begin, result.end(), is_starter);
    std::stable_sort(begin, end, by_class);
    begin = end;
  }
  return result;
}

std::string composed(std::string_view text) {
  const std::u32string parts = decomposed(code_points_of(text));
  std::vector<utf8proc_int32_t> values(parts.begin(), parts.end());
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  const auto size = utf8proc_normalize_utf32(values.data(),
                                             static_cast<utf8proc_ssize_t>(values.size()), options);
  return utf8_of(std::u32string(values.begin(), values.begin() + size));
}

}  // namespace heed
