// word_piece.cpp: reads BERT's vocabulary, and encodes and decodes text with it.

#include "heed/text/word_piece.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/unicode.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"
#include "heed/base/utf8.hpp"
#include "text/check_encoding.hpp"
#include "text/vocabulary_files.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr std::array<std::string_view, 5> special_tokens{"[PAD]", "[UNK]", "[CLS]", "[SEP]",
                                                         "[MASK]"};
constexpr std::string_view continuing = "##";  // begins the tokens that continue a word
constexpr std::size_t max_word_characters = 100;

// The blocks of Chinese characters, of which each is a word of its own. Kana and Hangul are not
// among them.
bool is_chinese(char32_t c) {
  return (c >= 0x4e00 && c <= 0x9fff) || (c >= 0x3400 && c <= 0x4dbf) ||
         (c >= 0x20000 && c <= 0x2a6df) || (c >= 0x2a700 && c <= 0x2b73f) ||
         (c >= 0x2b740 && c <= 0x2b81f) || (c >= 0x2b820 && c <= 0x2ceaf) ||
         (c >= 0xf900 && c <= 0xfaff) || (c >= 0x2f800 && c <= 0x2fa1f);
}

bool is_removed(char32_t c) {
  return c == 0 || c == 0xfffd || is_control_character(c) || is_format_character(c) ||
         is_private_use(c);
}

bool separates_words(char32_t c) {
  const bool ascii_symbol = (c >= '!' && c <= '/') || (c >= ':' && c <= '@') ||
                            (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
  return ascii_symbol || is_punctuation(c);
}

// The text with single spaces for white space, without control characters, and with spaces around
// Chinese characters.
std::u32string cleaned(std::u32string_view text) {
  std::u32string result;
  for (const char32_t c : text) {
    if (c == '\t' || c == '\n' || c == '\r')
      result += U' ';
    else if (is_removed(c))
      continue;
    else if (is_white_space(c))
      result += U' ';
    else if (is_chinese(c))
      (((result += U' ') += c) += U' ');
    else
      result += c;
  }
  return result;
}

// The lines of the file; a line can end in \r\n.
std::vector<std::string> tokens_of_lines(std::string_view text, const std::string& name) {
  std::vector<std::string> tokens;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const auto number = tokens.size() + 1;
    if (line.empty()) throw_error(name, ": line ", number, " is empty; each line must be a token");
    if (!is_utf8(line))
      throw_error(name, ": line ", number, ", ", in_quotes(line), ", is not UTF-8");
    tokens.emplace_back(line);
  }
  return tokens;
}

}  // namespace

WordPiece WordPiece::load(const std::filesystem::path& vocab_txt) {
  return from_contents(read_vocabulary_file(vocab_txt), vocab_txt.string());
}

WordPiece WordPiece::from_contents(std::string_view vocab_txt, const std::string& name) {
  if (has_byte_order_mark(vocab_txt)) vocab_txt.remove_prefix(3);
  WordPiece result;
  result.tokens_ = tokens_of_lines(vocab_txt, name);
  result.ids_ = distinct_ids(result.tokens_, name, "lines");
  for (const std::string& token : result.tokens_)
    result.longest_ = std::max(result.longest_, token.size());
  for (const std::string_view token : special_tokens) {
    const auto id = result.find(token);
    if (!id)
      throw_error(name, ": has no token ", token, " among its ",
                  counted(result.tokens_.size(), "line"), "; give the vocab.txt of a BERT model");
    result.special_.push_back(*id);
  }
  return result;
}

const std::string& WordPiece::piece(std::size_t id) const {
  if (id >= tokens_.size())
    throw_error("id ", id, " is not in the vocabulary of ", tokens_.size(), " tokens");
  return tokens_[id];
}

std::optional<std::size_t> WordPiece::find(std::string_view piece) const {
  const auto found = ids_.find(std::string(piece));
  return found == ids_.end() ? std::nullopt : std::optional<std::size_t>(found->second);
}

std::string WordPiece::normalized(std::string_view text) {
  std::u32string result = decomposed(lower_case(cleaned(code_points_of(text))));
  result.erase(std::remove_if(result.begin(), result.end(), is_nonspacing_mark), result.end());
  return utf8_of(result);
}

std::vector<std::string> WordPiece::words_of(std::string_view normalized_text) {
  std::vector<std::string> words;
  bool inside = false;  // whether the next character continues the last word
  for (std::size_t i = 0; i < normalized_text.size();) {
    const std::size_t begin = i;
    const char32_t c = next_code_point(normalized_text, i);
    const bool alone = separates_words(c);
    if (is_white_space(c)) {
      inside = false;
      continue;
    }
    if (!inside || alone) words.emplace_back();
    words.back() += normalized_text.substr(begin, i - begin);
    inside = !alone;
  }
  return words;
}

// The longest token that consists of `prefix` and one or more characters that `rest` begins with.
// Removes these characters from `rest`.
std::optional<std::size_t> WordPiece::longest_piece(std::string_view prefix,
                                                    std::string_view& rest) const {
  std::string token(prefix);
  token += rest.substr(0, longest_);
  for (; token.size() > prefix.size(); token.pop_back())
    if (const auto id = find(token)) {
      rest.remove_prefix(token.size() - prefix.size());
      return id;
    }
  return std::nullopt;
}

std::vector<std::size_t> WordPiece::pieces_of(std::string_view word) const {
  if (count_code_points(word) > max_word_characters) return {unk()};
  std::vector<std::size_t> ids;
  while (!word.empty()) {
    const auto id = longest_piece(ids.empty() ? "" : continuing, word);
    if (!id) return {unk()};
    ids.push_back(*id);
  }
  return ids;
}

void WordPiece::append_text(std::string_view text, std::vector<std::size_t>& ids) const {
  for (const std::string& word : words_of(normalized(text)))
    for (const std::size_t id : pieces_of(word)) ids.push_back(id);
}

std::vector<std::size_t> WordPiece::encode(std::string_view text) const {
  check_encoding(text);
  std::vector<std::size_t> ids;
  std::size_t begin = 0;
  for (std::size_t at = 0; (at = text.find('[', at)) != text.npos;) {
    std::size_t s = 0;
    while (s < special_tokens.size() &&
           text.substr(at, special_tokens[s].size()) != special_tokens[s])
      ++s;
    if (s == special_tokens.size()) {
      ++at;
      continue;
    }
    append_text(text.substr(begin, at - begin), ids);
    ids.push_back(special_[s]);
    begin = at += special_tokens[s].size();
  }
  append_text(text.substr(begin), ids);
  return ids;
}

std::vector<std::size_t> WordPiece::encode_sequence(std::string_view text) const {
  std::vector<std::size_t> ids = encode(text);
  ids.insert(ids.begin(), cls());
  ids.push_back(sep());
  return ids;
}

std::string WordPiece::decode(const std::vector<std::size_t>& ids) const {
  std::string text;
  for (const std::size_t id : ids) {
    const std::string_view token = piece(id);
    if (!text.empty() && token.substr(0, 2) == continuing)
      text += token.substr(2);
    else
      (text += text.empty() ? "" : " ") += token;
  }
  return text;
}

}  // namespace HEED_NAMESPACE
