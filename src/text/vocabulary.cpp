// vocabulary.cpp: builds a vocabulary from a text, encodes text as token ids and decodes token ids.

#include "heed/text/vocabulary.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/unicode.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/base/utf8.hpp"
#include "heed/text/word_piece.hpp"
#include "text/byte_level_bpe.hpp"
#include "text/sentence_piece.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr const char* unknown_token_text = " is not in the vocabulary; ";
constexpr const char* usual_remedy = "use only tokens of the training text";

// Calls visit(value) for each code point or byte of the text; throws Error for invalid UTF-8.
template <class Visit>
void for_each_value(Unit unit, std::string_view text, const Visit& visit) {
  if (unit == Unit::code_point) return for_each_code_point(text, visit);
  for (const char byte : text) visit(static_cast<unsigned char>(byte));
}

// Formats a token for an error message, such as 'é' (U+00E9), U+000A or byte 0xe9.
std::string token_text(Unit unit, std::uint32_t value) {
  if (unit == Unit::byte) return hexadecimal("byte 0x%02llx", value);
  const std::string number = hexadecimal("U+%04llX", value);
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
  if (unit == Unit::byte_pair)
    throw_error(
        "vocabulary: Unit::byte_pair needs BytePairs; make them with BytePairs::trained_on");
  if (unit != Unit::byte && unit != Unit::code_point)
    throw_error("vocabulary: the tokens of a pretrained model need its files; use from_files");
  const bool bytes = unit == Unit::byte;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (bytes ? values[i] > 0xff : !is_code_point(values[i]))
      throw_error("vocabulary: token ", i, " is ", values[i], ", which is not ",
                  bytes ? "a byte; give 0 to 255" : "a Unicode code point");
    if (i > 0 && values[i] <= values[i - 1])
      throw_error("vocabulary: token ", i, " is ", values[i], " after ", values[i - 1],
                  "; tokens must be sorted and distinct");
  }
}

}  // namespace

bool has_merges(Unit unit) {
  return unit == Unit::byte_pair || unit == Unit::byte_level_bpe || unit == Unit::sentence_piece;
}

Vocabulary Vocabulary::of_text(std::string_view text, Unit unit) {
  if (unit == Unit::word) return Vocabulary(distinct_words(text));
  std::vector<char> occurs(unit == Unit::byte ? 256 : last_code_point + 1);
  for_each_value(unit, text, [&](std::uint32_t value) { occurs[value] = 1; });
  std::vector<std::uint32_t> values;
  for (std::uint32_t value = 0; value < occurs.size(); ++value)
    if (occurs[value] != 0) values.push_back(value);
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

Vocabulary::Vocabulary(BytePairs byte_pairs)
    : unit_(Unit::byte_pair), byte_pairs_(std::move(byte_pairs)), ids_(256) {
  std::iota(ids_.begin(), ids_.end(), 0);  // the tokens 0 to 255 are the bytes
}

Vocabulary Vocabulary::from_files(Unit unit, std::vector<std::string> texts,
                                  const std::vector<std::string>& names) {
  Vocabulary vocabulary(unit);
  const bool one = unit == Unit::word_piece || unit == Unit::sentence_piece;
  const bool json = unit == Unit::byte_level_bpe && texts.size() == 1;
  const std::size_t expected = one || json ? 1 : unit == Unit::byte_level_bpe ? 2 : 0;
  if (expected == 0 || texts.size() != expected || names.size() != expected)
    throw_error(
        "vocabulary: ", texts.size(), " files, ", names.size(), " names; byte-level BPE ",
        "needs vocab.json and merges.txt, WordPiece needs vocab.txt, SentencePiece one file");
  if (json)
    vocabulary.byte_level_bpe_ =
        std::make_shared<const ByteLevelBpe>(ByteLevelBpe::from_tokenizer_json(texts[0], names[0]));
  else if (unit == Unit::byte_level_bpe)
    vocabulary.byte_level_bpe_ = std::make_shared<const ByteLevelBpe>(
        ByteLevelBpe::from_contents(texts[0], texts[1], names[0], names[1]));
  else if (unit == Unit::word_piece)
    vocabulary.word_piece_ =
        std::make_shared<const WordPiece>(WordPiece::from_contents(texts[0], names[0]));
  else
    vocabulary.sentence_piece_ =
        std::make_shared<const SentencePiece>(SentencePiece::from_contents(texts[0], names[0]));
  vocabulary.files_ = std::move(texts);
  vocabulary.find_ascii();
  return vocabulary;
}

// Lets find() return the ids of ASCII characters that are tokens, such as the line break.
void Vocabulary::find_ascii() {
  if (sentence_piece_)
    for (unsigned char c = 0; c < 128; ++c)
      ids_.push_back(static_cast<std::int32_t>(sentence_piece_->find(c)));
  if (!byte_level_bpe_) return;
  ids_.assign(128, -1);
  for (std::size_t i = 0; i < byte_level_bpe_->size(); ++i) {
    const std::string& piece = byte_level_bpe_->piece(i);
    if (piece.size() == 1 && static_cast<unsigned char>(piece[0]) < 128)
      ids_[static_cast<unsigned char>(piece[0])] = static_cast<std::int32_t>(i);
  }
}

std::size_t Vocabulary::size() const {
  switch (unit_) {
    case Unit::byte_pair:
      return byte_pairs_->size();
    case Unit::word:
      return words_.size();
    case Unit::byte_level_bpe:
      return byte_level_bpe_->size();
    case Unit::word_piece:
      return word_piece_->size();
    case Unit::sentence_piece:
      return sentence_piece_->size();
    default:
      return values_.size();
  }
}

std::int64_t Vocabulary::find(std::string_view word) const {
  if (word_piece_) {
    const std::optional<std::size_t> id = word_piece_->find(word);
    return id ? static_cast<std::int64_t>(*id) : -1;
  }
  const auto found = std::lower_bound(words_.begin(), words_.end(), word);
  return found != words_.end() && *found == word ? found - words_.begin() : -1;
}

std::optional<std::int64_t> Vocabulary::end_of_text() const {
  if (!byte_level_bpe_ || !byte_level_bpe_->end_of_text()) return {};
  return static_cast<std::int64_t>(*byte_level_bpe_->end_of_text());
}

std::int64_t Vocabulary::first_token() const {
  if (sentence_piece_) return static_cast<std::int64_t>(sentence_piece_->begin_of_text());
  if (byte_level_bpe_ && byte_level_bpe_->begin_of_text())
    return static_cast<std::int64_t>(*byte_level_bpe_->begin_of_text());
  return end_of_text().value_or(std::max<std::int64_t>(find('\n'), 0));
}

// What to use instead of an unknown token. A text can have 'é' as one code point (NFC) or as 'e'
// and an accent (NFD), which look the same.
std::string Vocabulary::remedy(std::uint32_t unknown) const {
  if (unit_ != Unit::code_point) return usual_remedy;
  const auto is_known = [&](char32_t part) { return find(std::uint32_t{part}) >= 0; };
  const std::u32string parts = decomposed(std::u32string(1, unknown));
  if (parts.size() > 1 && std::all_of(parts.begin(), parts.end(), is_known)) {
    std::vector<std::string> texts;
    for (const char32_t part : parts) texts.push_back(token_text(unit_, part));
    return "the training text has it decomposed (NFD), as " + joined(texts, " and ") +
           "; uconv -x nfd converts a text";
  }
  for (const std::uint32_t value : values_)
    if (is_nonspacing_mark(unknown) && value != unknown &&
        decomposed(std::u32string(1, value)).find(unknown) != std::u32string::npos)
      return "the training text has composed characters (NFC), such as " +
             token_text(unit_, value) + "; uconv -x nfc converts a text";
  return usual_remedy;
}

void Vocabulary::throw_unknown_token(std::uint32_t value) const {
  throw_error(token_text(unit_, value), unknown_token_text, remedy(value));
}

std::vector<std::int64_t> Vocabulary::encode(std::string_view text, SpecialTokens special) const {
  if (byte_pairs_) return byte_pairs_->encode(text);
  if (!files_.empty()) {
    const auto pieces = byte_level_bpe_   ? byte_level_bpe_->encode(text, special)
                        : sentence_piece_ ? sentence_piece_->encode(text, special)
                                          : word_piece_->encode_sequence(text);
    return {pieces.begin(), pieces.end()};
  }
  std::vector<std::int64_t> ids;
  if (unit_ == Unit::word) {
    for (const std::string_view word : words_of(text)) {
      ids.push_back(find(word));
      if (ids.back() >= 0) continue;
      check_utf8(word);
      const std::u32string form = decomposed(code_points_of(word));
      for (const std::string& known : words_)
        if (decomposed(code_points_of(known)) == form)
          throw_error(in_quotes(word), unknown_token_text, "the training text has it in another ",
                      "Unicode form; uconv -x nfc or uconv -x nfd converts a text");
      throw_error(in_quotes(word), unknown_token_text, usual_remedy);
    }
    return ids;
  }
  ids.reserve(unit_ == Unit::byte ? text.size() : count_code_points(text));
  for_each_value(unit_, text, [&](std::uint32_t value) { ids.push_back(id(value)); });
  return ids;
}

void Vocabulary::check_id(std::int64_t id) const {
  if (id < 0 || id >= static_cast<std::int64_t>(size()))
    throw_error("decode: id ", id, " is not in the vocabulary of ", size(), " tokens");
}

std::string Vocabulary::decode(const std::vector<std::int64_t>& ids) const {
  if (!files_.empty()) {
    for (const std::int64_t id : ids) check_id(id);
    const std::vector<std::size_t> pieces(ids.begin(), ids.end());
    return byte_level_bpe_   ? byte_level_bpe_->decode(pieces)
           : sentence_piece_ ? sentence_piece_->decode(pieces)
                             : word_piece_->decode(pieces);
  }
  std::string text;
  for (const std::int64_t id : ids) {
    check_id(id);
    const auto i = static_cast<std::size_t>(id);
    if (byte_pairs_)
      text += byte_pairs_->bytes(id);
    else if (unit_ == Unit::word)
      text += (text.empty() ? "" : " ") + words_[i];
    else if (unit_ == Unit::byte)
      text += static_cast<char>(values_[i]);
    else
      append_utf8(text, values_[i]);
  }
  return text;
}

}  // namespace HEED_NAMESPACE
