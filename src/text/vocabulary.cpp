// vocabulary.cpp: one pass finds the symbols, one table finds their ids.

#include "heed/text/vocabulary.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/base/utf8.hpp"

namespace heed {
namespace {

bool exists(Unit unit, std::uint32_t symbol) {
  return unit == Unit::byte ? symbol <= 0xff : is_code_point(symbol);
}

std::string hexadecimal(const char* format, std::uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, format, static_cast<unsigned>(value));
  return text;
}

// A symbol for an error message: 'é' (U+00E9), U+000A, byte 0xe9.
std::string shown(Unit unit, std::uint32_t symbol) {
  if (unit == Unit::byte) return hexadecimal("byte 0x%02x", symbol);
  const std::string number = hexadecimal("U+%04X", symbol);
  if (!is_printable(symbol)) return number;
  std::string text;
  append_utf8(text, symbol);
  return in_quotes(text) + " (" + number + ")";
}

constexpr std::string_view white_space = " \t\n\v\f\r";

// Calls visit(word) for each stretch of text between white space.
template <class Visit>
void for_each_word(std::string_view text, const Visit& visit) {
  for (std::size_t begin; (begin = text.find_first_not_of(white_space)) != text.npos;) {
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(white_space), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(end);
  }
}

void check_utf8(std::string_view text) {
  for_each_code_point(text, [](std::uint32_t) {});
}

[[noreturn]] void throw_unknown_word(std::string_view word) {
  check_utf8(word);
  throw_error(in_quotes(word), " is not in the vocabulary; use what the training text has");
}

void check(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    check_utf8(words[i]);
    if (words[i].empty() || words[i].find_first_of(white_space) != std::string::npos)
      throw_error("vocabulary: word ", i, " is ", in_quotes(words[i]), "; words have no white space");
    if (i > 0 && words[i] <= words[i - 1])
      throw_error("vocabulary: word ", i, " is ", in_quotes(words[i]), " after ", in_quotes(words[i - 1]),
                  "; words must rise, each once");
  }
}

std::vector<std::string> distinct_words(std::string_view text) {
  check_utf8(text);
  std::vector<std::string> words;
  for_each_word(text, [&](std::string_view word) { words.emplace_back(word); });
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

void check(Unit unit, const std::vector<std::uint32_t>& symbols) {
  if (unit == Unit::word) throw_error("vocabulary: words are not numbers; give them as words");
  const char* const kind = unit == Unit::byte ? "a byte; give 0 to 255" : "a Unicode code point";
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    if (!exists(unit, symbols[i]))
      throw_error("vocabulary: symbol ", i, " is ", symbols[i], ", which is not ", kind);
    if (i > 0 && symbols[i] <= symbols[i - 1])
      throw_error("vocabulary: symbol ", i, " is ", symbols[i], " after ", symbols[i - 1],
                  "; symbols must rise, each once");
  }
}

}  // namespace

Vocabulary Vocabulary::of_text(std::string_view text, Unit unit) {
  if (unit == Unit::word) return Vocabulary(distinct_words(text));
  std::vector<char> seen(unit == Unit::byte ? 256 : last_code_point + 1);
  if (unit == Unit::byte)
    for (const char byte : text) seen[static_cast<unsigned char>(byte)] = 1;
  else
    for_each_code_point(text, [&](std::uint32_t c) { seen[c] = 1; });
  std::vector<std::uint32_t> symbols;
  for (std::uint32_t c = 0; c < seen.size(); ++c)
    if (seen[c] != 0) symbols.push_back(c);
  return Vocabulary(unit, std::move(symbols));
}

Vocabulary::Vocabulary(Unit unit, std::vector<std::uint32_t> symbols)
    : unit_(unit), symbols_(std::move(symbols)) {
  check(unit_, symbols_);
  if (!symbols_.empty()) ids_.assign(std::size_t{symbols_.back()} + 1, -1);
  for (std::size_t i = 0; i < symbols_.size(); ++i)
    ids_[symbols_[i]] = static_cast<std::int32_t>(i);
}

Vocabulary::Vocabulary(std::vector<std::string> words)
    : unit_(Unit::word), words_(std::move(words)) {
  check(words_);
}

std::int64_t Vocabulary::find(std::string_view word) const {
  const auto place = std::lower_bound(words_.begin(), words_.end(), word);
  return place != words_.end() && *place == word ? place - words_.begin() : -1;
}

void Vocabulary::throw_unknown_token(std::uint32_t symbol) const {
  throw_error(shown(unit_, symbol), " is not in the vocabulary; use what the training text has");
}

std::vector<std::int64_t> Vocabulary::encode(std::string_view text) const {
  std::vector<std::int64_t> ids;
  if (unit_ == Unit::word) {
    for_each_word(text, [&](std::string_view word) {
      ids.push_back(find(word));
      if (ids.back() < 0) throw_unknown_word(word);
    });
    return ids;
  }
  ids.reserve(unit_ == Unit::byte ? text.size() : count_code_points(text));
  if (unit_ == Unit::byte)
    for (const char byte : text) ids.push_back(id(static_cast<unsigned char>(byte)));
  else
    for_each_code_point(text, [&](std::uint32_t c) { ids.push_back(id(c)); });
  return ids;
}

void Vocabulary::append(std::string& text, std::int64_t id) const {
  if (id < 0 || id >= static_cast<std::int64_t>(size()))
    throw_error("decode: id ", id, " is not in the vocabulary of ", size(), " symbols");
  if (unit_ == Unit::word) {
    text += (text.empty() ? "" : " ") + words_[static_cast<std::size_t>(id)];
    return;
  }
  const std::uint32_t symbol = symbols_[static_cast<std::size_t>(id)];
  if (unit_ == Unit::byte)
    text.push_back(static_cast<char>(symbol));
  else
    append_utf8(text, symbol);
}

std::string Vocabulary::decode(const std::vector<std::int64_t>& ids) const {
  std::string text;
  for (const std::int64_t id : ids) append(text, id);
  return text;
}

std::string Vocabulary::decode(std::int64_t id) const {
  std::string text;
  append(text, id);
  return text;
}

}  // namespace heed
