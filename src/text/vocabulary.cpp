// vocabulary.cpp: building a vocabulary from a text, and encoding and decoding token ids.

#include "heed/text/vocabulary.hpp"

#include <algorithm>
#include <utility>

#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/base/utf8.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr const char* unknown_token_text =
    " is not in the vocabulary; use only tokens of the training text";

bool is_valid(Unit unit, std::uint32_t value) {
  return unit == Unit::byte ? value <= 0xff : is_code_point(value);
}

// A token for an error message: 'é' (U+00E9), U+000A, byte 0xe9.
std::string token_text(Unit unit, std::uint32_t value) {
  if (unit == Unit::byte) return hexadecimal("byte 0x%02x", value);
  const std::string number = hexadecimal("U+%04X", value);
  if (!is_printable(value)) return number;
  std::string text;
  append_utf8(text, value);
  return in_quotes(text) + " (" + number + ")";
}

void check_utf8(std::string_view text) {
  for_each_code_point(text, [](std::uint32_t) {});
}

void check(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    check_utf8(words[i]);
    if (words_of(words[i]) != std::vector<std::string_view>{words[i]})
      throw_error("vocabulary: word ", i, " is ", in_quotes(words[i]),
                  "; words must be nonempty and without white space");
    if (i > 0 && words[i] <= words[i - 1])
      throw_error("vocabulary: word ", i, " is ", in_quotes(words[i]), " after ",
                  in_quotes(words[i - 1]), "; words must be strictly increasing");
  }
}

std::vector<std::string> distinct_words(std::string_view text) {
  check_utf8(text);
  std::vector<std::string_view> words = words_of(text);
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return {words.begin(), words.end()};
}

void check(Unit unit, const std::vector<std::uint32_t>& values) {
  if (unit == Unit::word) throw_error("vocabulary: Unit::word needs words, not numbers");
  const char* const kind = unit == Unit::byte ? "a byte; give 0 to 255" : "a Unicode code point";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!is_valid(unit, values[i]))
      throw_error("vocabulary: token ", i, " is ", values[i], ", which is not ", kind);
    if (i > 0 && values[i] <= values[i - 1])
      throw_error("vocabulary: token ", i, " is ", values[i], " after ", values[i - 1],
                  "; tokens must be strictly increasing");
  }
}

}  // namespace

Vocabulary Vocabulary::of_text(std::string_view text, Unit unit) {
  if (unit == Unit::word) return Vocabulary(distinct_words(text));
  std::vector<char> occurs(unit == Unit::byte ? 256 : last_code_point + 1);
  if (unit == Unit::byte)
    for (const char byte : text) occurs[static_cast<unsigned char>(byte)] = 1;
  else
    for_each_code_point(text, [&](std::uint32_t c) { occurs[c] = 1; });
  std::vector<std::uint32_t> values;
  for (std::uint32_t c = 0; c < occurs.size(); ++c)
    if (occurs[c] != 0) values.push_back(c);
  return Vocabulary(unit, std::move(values));
}

Vocabulary::Vocabulary(Unit unit, std::vector<std::uint32_t> values)
    : unit_(unit), values_(std::move(values)) {
  check(unit_, values_);
  if (!values_.empty()) ids_.assign(std::size_t{values_.back()} + 1, -1);
  for (std::size_t i = 0; i < values_.size(); ++i) ids_[values_[i]] = static_cast<std::int32_t>(i);
}

Vocabulary::Vocabulary(std::vector<std::string> words)
    : unit_(Unit::word), words_(std::move(words)) {
  check(words_);
}

std::int64_t Vocabulary::find(std::string_view word) const {
  const auto found = std::lower_bound(words_.begin(), words_.end(), word);
  return found != words_.end() && *found == word ? found - words_.begin() : -1;
}

void Vocabulary::throw_unknown_token(std::uint32_t value) const {
  throw_error(token_text(unit_, value), unknown_token_text);
}

std::vector<std::int64_t> Vocabulary::encode(std::string_view text) const {
  std::vector<std::int64_t> ids;
  if (unit_ == Unit::word) {
    for (const std::string_view word : words_of(text)) {
      ids.push_back(find(word));
      if (ids.back() >= 0) continue;
      check_utf8(word);
      throw_error(in_quotes(word), unknown_token_text);
    }
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
    throw_error("decode: id ", id, " is not in the vocabulary of ", size(), " tokens");
  if (unit_ == Unit::word) {
    text += (text.empty() ? "" : " ") + words_[static_cast<std::size_t>(id)];
    return;
  }
  const std::uint32_t value = values_[static_cast<std::size_t>(id)];
  if (unit_ == Unit::byte)
    text.push_back(static_cast<char>(value));
  else
    append_utf8(text, value);
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

}  // namespace HEED_NAMESPACE
