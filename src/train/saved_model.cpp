// saved_model.cpp: a model with its vocabulary, from a checkpoint and into one.

#include "heed/train/saved_model.hpp"

#include <charconv>
#include <utility>

#include "heed/array/error.hpp"
#include "heed/nn/checkpoint.hpp"

namespace heed {
namespace {

std::string joined(const Vocabulary& vocabulary) {
  std::string text;
  for (const std::string& word : vocabulary.words()) text += (text.empty() ? "" : " ") + word;
  for (const std::uint32_t symbol : vocabulary.symbols())
    text += (text.empty() ? "" : " ") + std::to_string(symbol);
  return text;
}

std::string_view unit_name(Unit unit) {
  return unit == Unit::byte ? "byte" : unit == Unit::word ? "word" : "code_point";
}

Unit unit_from(const SafetensorsFile& file) {
  const std::string& name = nn::entry(file, "vocabulary.unit");
  for (const Unit unit : {Unit::code_point, Unit::byte, Unit::word})
    if (name == unit_name(unit)) return unit;
  refuse(file.path, ": metadata 'vocabulary.unit' is ", shown(name),
         ", none of byte, code_point and word");
}

std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t end; (end = text.find(' ')) != text.npos; text.remove_prefix(end + 1))
    words.emplace_back(text.substr(0, end));
  words.emplace_back(text);
  return words;
}

std::vector<std::uint32_t> numbers_in(const SafetensorsFile& file, const std::string& text) {
  std::vector<std::uint32_t> symbols;
  for (const char* at = text.data(); at != text.data() + text.size();) {
    if (!symbols.empty() && *at == ' ') ++at;
    std::uint32_t symbol = 0;
    const auto [end, error] = std::from_chars(at, text.data() + text.size(), symbol);
    if (error != std::errc()) refuse(file.path, ": metadata 'vocabulary.symbols' is damaged");
    symbols.push_back(symbol);
    at = end;
  }
  return symbols;
}

// What the file says of its model, when that fits its vocabulary.
nn::GptConfig config_for(const Vocabulary& vocabulary, const SafetensorsFile& file) {
  const nn::GptConfig config = nn::config_from(file);
  if (config.vocab_size != vocabulary.size())
    refuse(file.path, ": the model has ", config.vocab_size, " symbols, the vocabulary ",
           vocabulary.size());
  return config;
}

}  // namespace

void put_vocabulary(Metadata& metadata, const Vocabulary& vocabulary) {
  metadata["vocabulary.unit"] = unit_name(vocabulary.unit());
  metadata["vocabulary.symbols"] = joined(vocabulary);
}

Vocabulary vocabulary_from(const SafetensorsFile& file) {
  const Unit unit = unit_from(file);
  const std::string& text = nn::entry(file, "vocabulary.symbols");
  std::vector<std::uint32_t> numbers;
  if (unit != Unit::word) numbers = numbers_in(file, text);
  try {
    return unit == Unit::word ? Vocabulary(words_in(text)) : Vocabulary(unit, std::move(numbers));
  } catch (const Error& error) {
    refuse(file.path, ": ", error.what());
  }
}

SavedModel::SavedModel(const SafetensorsFile& file) : SavedModel(file, Generator(0)) {}

// The generator draws weights that the file's replace.
SavedModel::SavedModel(const SafetensorsFile& file, Generator generator)
    : vocabulary(vocabulary_from(file)),
      model(Scope(parameters, generator), config_for(vocabulary, file)) {
  nn::load_parameters(parameters, file);
}

void save_model(const std::filesystem::path& path, const Parameters& parameters,
                const nn::GptConfig& config, const Vocabulary& vocabulary) {
  Metadata metadata;
  std::vector<StoredTensor> tensors;
  nn::put_config(metadata, config);
  put_vocabulary(metadata, vocabulary);
  nn::put_parameters(tensors, parameters);
  write_safetensors(path, std::move(metadata), tensors);
}

}  // namespace heed
