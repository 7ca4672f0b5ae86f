// vocabulary_entries.cpp: a model's vocabulary as metadata.

#include "files/vocabulary_entries.hpp"

#include <utility>

#include "files/entries.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {

namespace {

constexpr std::pair<Unit, std::string_view> unit_names[] = {
    {Unit::code_point, "code_point"},
    {Unit::byte, "byte"},
    {Unit::word, "word"},
    {Unit::byte_pair, "byte_pair"},
    {Unit::byte_level_bpe, "byte_level_bpe"},
    {Unit::word_piece, "word_piece"},
    {Unit::sentence_piece, "sentence_piece"}};

Unit unit_in(const SafetensorsFile& file) {
  const std::string& text = text_entry(file, "vocabulary.unit");
  for (const auto& [unit, name] : unit_names)
    if (name == text) return unit;
  throw_error(file.path, ": metadata 'vocabulary.unit' is ", in_quotes(text),
              ", none of byte, byte_level_bpe, byte_pair, code_point, sentence_piece, word and "
              "word_piece");
}

constexpr const char* tokenizer_json_key = "vocabulary.tokenizer.json";

// The metadata entries for the files of a pretrained model's vocabulary.
std::vector<std::string> file_keys(Unit unit) {
  if (unit == Unit::byte_level_bpe) return {"vocabulary.vocab.json", "vocabulary.merges.txt"};
  if (unit == Unit::word_piece) return {"vocabulary.vocab.txt"};
  if (unit == Unit::sentence_piece) return {"vocabulary.tokenizer.vocab"};
  return {};
}

// The tokens of a vocabulary, separated by single spaces: words as text, characters as numbers, and
// of byte pairs the two ids of each merge.
std::string vocabulary_text(const Vocabulary& vocabulary) {
  std::vector<std::string> parts = vocabulary.words();
  for (const std::uint32_t value : vocabulary.characters()) parts.push_back(std::to_string(value));
  if (vocabulary.byte_pairs())
    for (const auto& [left, right] : vocabulary.byte_pairs()->merges()) {
      parts.push_back(std::to_string(left));
      parts.push_back(std::to_string(right));
    }
  return joined(parts, " ");
}

// The byte pairs that vocabulary_text() has written as `numbers`.
BytePairs byte_pairs_of(const std::vector<std::uint32_t>& numbers) {
  constexpr std::size_t max_merges = 65536;
  if (numbers.size() > 2 * max_merges)
    throw_error("metadata 'vocabulary.tokens' has ", numbers.size() / 2,
                " merges of byte pairs; give at most ", max_merges);
  if (numbers.size() % 2 != 0)
    throw_error("metadata 'vocabulary.tokens' has ", numbers.size(),
                " numbers; byte pairs need two for each merge");
  std::vector<BytePairs::Merge> merges;
  for (std::size_t i = 0; i < numbers.size(); i += 2)
    merges.push_back({numbers[i], numbers[i + 1]});
  return BytePairs(std::move(merges));
}

}  // namespace

void put_vocabulary(Metadata& metadata, const Vocabulary& vocabulary) {
  for (const auto& [unit, name] : unit_names)
    if (unit == vocabulary.unit()) metadata["vocabulary.unit"] = name;
  const std::vector<std::string> keys = file_keys(vocabulary.unit());
  if (vocabulary.unit() == Unit::byte_level_bpe && vocabulary.files().size() == 1)
    metadata[tokenizer_json_key] = vocabulary.files()[0];
  else
    for (std::size_t i = 0; i < keys.size(); ++i) metadata[keys[i]] = vocabulary.files()[i];
  if (keys.empty()) metadata["vocabulary.tokens"] = vocabulary_text(vocabulary);
}

Vocabulary vocabulary_in(const SafetensorsFile& file) {
  const Unit unit = unit_in(file);
  std::vector<std::string> keys = file_keys(unit);
  if (unit == Unit::byte_level_bpe && file.metadata.count(tokenizer_json_key) != 0)
    keys = {tokenizer_json_key};
  if (!keys.empty()) {
    std::vector<std::string> texts, names;
    for (const std::string& key : keys) {
      texts.push_back(text_entry(file, key));
      names.push_back(file.path + ": " + key.substr(key.find('.') + 1));
    }
    return Vocabulary::from_files(unit, std::move(texts), names);
  }
  const std::string& text = text_entry(file, "vocabulary.tokens");
  if (unit == Unit::byte_pair && text.empty()) return Vocabulary(BytePairs({}));
  const std::vector<std::string> tokens = split(text, ' ');
  try {
    if (unit == Unit::word) return Vocabulary(tokens);
    std::vector<std::uint32_t> values(tokens.size());
    for (std::size_t i = 0; i < tokens.size(); ++i)
      if (!parse(tokens[i], values[i])) throw_error("metadata 'vocabulary.tokens' is damaged");
    if (unit == Unit::byte_pair) return Vocabulary(byte_pairs_of(values));
    return Vocabulary(unit, std::move(values));
  } catch (const Error& error) {
    throw_error(file.path, ": ", error.what());
  }
}

}  // namespace HEED_NAMESPACE
