// text.cpp: formats numbers, escapes and splits text, and counts terminal columns.

#include "heed/base/text.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <ios>
#include <locale>
#include <sstream>

#include "base/unicode.hpp"
#include "heed/base/utf8.hpp"

namespace heed {
namespace {

// Uses a stream with the classic locale, because printf would use the user's decimal separator.
std::string format_number(double value, int decimals, std::ios_base::fmtflags notation) {
  if (std::isnan(value)) return "nan";  // a stream can print "-nan"
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out.setf(notation, std::ios_base::floatfield);
  out.precision(decimals);
  out << value;
  return out.str();
}

std::string two_digits(long long n) { return (n < 10 ? "0" : "") + std::to_string(n); }

std::string escape_sequence(std::uint32_t c) {
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  if (c == '\r') return "\\r";
  return hexadecimal(c < 0x100 ? "\\x%02llx" : c < 0x10000 ? "\\u%04llx" : "\\U%08llx", c);
}

// Whether nothing is seen of a character that stands alone: white space, a joiner, a variation
// selector, a filler of Hangul.
bool is_invisible(std::uint32_t c) {
  return is_white_space(c) || is_format_character(c) || c == 0x34f ||
         (c >= 0xfe00 && c <= 0xfe0f) || (c >= 0xe0100 && c <= 0xe01ef) || c == 0x115f ||
         c == 0x1160 || c == 0x3164 || c == 0xffa0;
}

// A character's width: 2 for emoji and East Asian wide characters, 0 for combining marks, else 1.
std::size_t terminal_columns(std::string_view character) {
  const auto [c, size] = decode_utf8(character, 0);
  if (size == 0) return 1;  // an invalid byte takes one column
  return static_cast<std::size_t>(utf8proc_charwidth(static_cast<utf8proc_int32_t>(c)));
}

}  // namespace

std::string decimal(double value, int decimals) {
  const std::string text = format_number(value, decimals, std::ios_base::fixed);
  const bool is_zero = text.find_first_not_of("-0.") == std::string::npos;
  return is_zero && text[0] == '-' ? text.substr(1) : text;
}

std::string scientific(double value, int decimals) {
  return format_number(value, decimals, std::ios_base::scientific);
}

std::string significant(double value, int digits) { return format_number(value, digits, {}); }

std::string grouped(double value) {
  std::string text = decimal(value, 0);
  const std::size_t first_digit = text[0] == '-' ? 1 : 0;
  for (std::size_t i = text.size(); i > first_digit + 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

std::string hexadecimal(const char* format, unsigned long long value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string exact(double value) {
  char text[32];  // long enough for any double
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

std::string counted(std::size_t count, std::string_view noun) {
  return grouped(static_cast<double>(count)) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t end; (end = text.find(separator)) != text.npos; text.remove_prefix(end + 1))
    parts.emplace_back(text.substr(0, end));
  parts.emplace_back(text);
  return parts;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines = split(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view white_space = " \t\n\v\f\r";
  std::vector<std::string_view> words;
  for (std::size_t begin; (begin = text.find_first_not_of(white_space)) != text.npos;) {
    text.remove_prefix(begin);
    words.push_back(text.substr(0, text.find_first_of(white_space)));
    text.remove_prefix(words.back().size());
  }
  return words;
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts)
    text += (&part == parts.data() ? "" : std::string(separator)) + part;
  return text;
}

std::string duration(double seconds) {
  if (!(seconds >= 0) || seconds > 1e15) return "?";
  const long long s = std::llround(seconds);
  const long long minutes = s / 60, hours = minutes / 60, days = hours / 24;
  if (hours == 0) return std::to_string(minutes) + ":" + two_digits(s % 60);
  if (days == 0) return std::to_string(hours) + " h " + two_digits(minutes % 60) + " min";
  return std::to_string(days) + " d " + two_digits(hours % 24) + " h";
}

static std::string escaped_except(std::string_view text, std::string_view kept) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const auto [c, size] = decode_utf8(text, i);
    if (size > 0 && (is_printable(c) || kept.find(text[i]) != kept.npos))
      result += text.substr(i, size);
    else
      result += escape_sequence(size > 0 ? c : static_cast<unsigned char>(text[i]));
    i += std::max<std::size_t>(size, 1);
  }
  return result;
}

std::string escaped(std::string_view text) { return escaped_except(text, ""); }
std::string escaped_lines(std::string_view text) { return escaped_except(text, "\n\t"); }

std::string in_quotes(std::string_view text) {
  constexpr std::size_t max_size = 80;
  std::string result = "'";
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = std::max(decode_utf8(text, i).size, 1u);
    result += escaped(text.substr(i, size));
    if (result.size() > max_size && i + size < text.size()) return result + "...'";
    i += size;
  }
  return result + "'";
}

std::string printable(std::string_view name) {
  std::string shown;
  for (std::size_t i = 0; i < name.size();) {
    const auto [c, size] = decode_utf8(name, i);
    if (size == 0 || !is_invisible(c)) return escaped(name);
    shown += c == ' ' ? "␣" : escape_sequence(c);
    i += size;
  }
  return shown;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); i += character_at(text, i).size())
    width += terminal_columns(character_at(text, i));
  return width;
}

std::string pad_left(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(used < width ? width - used : 0, ' ') + std::string(text);
}

std::string pad_right(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(text) + std::string(used < width ? width - used : 0, ' ');
}

std::string truncated(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  std::string result;
  std::size_t used = 1;  // one column for the ellipsis
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view character = character_at(text, i);
    used += terminal_columns(character);
    if (used > width) break;
    result += character;
    i += character.size();
  }
  return width == 0 ? "" : result + "…";
}

}  // namespace heed
