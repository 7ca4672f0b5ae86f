// vocabulary.cpp: the vocabulary files of GPT-2, BERT, nanoGPT and Llama's family.

#include "files/hugging_face/vocabulary.hpp"

#include "files/hugging_face/json.hpp"
#include "files/hugging_face/tokenizer.hpp"
#include "files/vocabulary_entries.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/base/utf8.hpp"
#include "heed/files/model_file.hpp"
#include "text/tokenizer_json.hpp"

namespace HEED_NAMESPACE::hugging_face {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_vocabulary_bytes = 32'000'000;

Vocabulary from_files(const fs::path& folder, Unit unit, const std::vector<std::string>& names) {
  std::vector<std::string> texts, paths;
  for (const std::string& name : names) {
    paths.push_back((folder / name).string());
    texts.push_back(read_small_file(folder / name, max_vocabulary_bytes));
  }
  return Vocabulary::from_files(unit, std::move(texts), paths);
}

// The one code point of `text`. Throws Error for another number of code points.
std::uint32_t only_code_point(const std::string& file, const std::string& text) {
  const Utf8Character first = decode_utf8(text, 0);
  if (first.size == 0 || first.size != text.size())
    throw_error(file, ": ", in_quotes(text), " in 'stoi' is not one character");
  return first.code_point;
}

// The characters of nanoGPT's meta.pkl as JSON: "stoi" maps each character to its id.
Vocabulary characters_in(const Json& json, const std::string& file) {
  const Json* const found = json.find("stoi");
  if (found == nullptr || !found->is<Json::Object>())
    throw_error(file, ": the key 'stoi' is missing or is no object");
  const Json::Object& stoi = found->get<Json::Object>();
  std::vector<std::uint32_t> values(stoi.size());
  std::vector<bool> given(stoi.size());
  for (const auto& [text, id] : stoi) {
    if (!id.is<std::uint64_t>() || id.get<std::uint64_t>() >= values.size())
      throw_error(file, ": the id of ", in_quotes(text), " is ", short_text(id),
                  "; the ids must be 0 to ", values.size() - 1);
    const auto i = id.get<std::uint64_t>();
    if (given[i]) throw_error(file, ": two characters have the id ", i);
    given[i] = true;
    values[i] = only_code_point(file, text);
  }
  try {
    return Vocabulary(Unit::code_point, values);
  } catch (const Error& error) {
    throw_error(file, ": ", error.what());
  }
}

Vocabulary vocabulary_of(const Metadata& metadata, const std::string& file) {
  SafetensorsFile described;
  described.path = file;
  described.metadata = metadata;
  return vocabulary_in(described);
}

Vocabulary in_meta_json(const fs::path& path) {
  const Json json = parsed_object(path, max_vocabulary_bytes);
  if (!json.contains("vocabulary.unit")) return characters_in(json, path.string());
  Metadata metadata;
  for (const auto& [key, value] : json.get<Json::Object>())
    if (value.is<std::string>()) metadata[key] = value.get<std::string>();
  return vocabulary_of(metadata, path.string());
}

std::string meta_json(const Vocabulary& vocabulary) {
  Json json;
  if (vocabulary.unit() == Unit::code_point) {
    json = {{"vocab_size", vocabulary.size()}, {"stoi", Json::Object()}};
    for (std::size_t i = 0; i < vocabulary.size(); ++i)
      json["stoi"][vocabulary.decode(static_cast<std::int64_t>(i))] = i;
  } else {
    for (const auto& [key, value] : model_metadata({}, vocabulary))
      if (key.rfind("vocabulary.", 0) == 0) json[key] = value;
  }
  return json.dump() + "\n";
}

// A tokenizer.json with a token for each row of the embedding, which in Qwen2 has more rows than
// the tokenizer has tokens.
std::string padded(const std::string& text, const std::string& name, std::size_t vocab_size) {
  const std::size_t size = TokenizerJson(text, name).tokens.size();
  if (size >= vocab_size) return text;
  Json json = Json::parse(text);
  for (std::size_t id = size; id < vocab_size; ++id)
    json["added_tokens"].push_back({{"id", id},
                                    {"content", "<|unused " + std::to_string(id) + "|>"},
                                    {"single_word", false},
                                    {"lstrip", false},
                                    {"rstrip", false},
                                    {"normalized", false},
                                    {"special", true}});
  return json.dump() + "\n";
}

// The vocabulary of a model of Llama's family: byte-level BPE, or the text of spm_export_vocab.
Vocabulary llama_vocabulary(const fs::path& folder, std::size_t vocab_size) {
  const fs::path pieces = folder / "tokenizer.vocab", model = folder / "tokenizer.model";
  if (file_exists(pieces)) return from_files(folder, Unit::sentence_piece, {"tokenizer.vocab"});
  if (const fs::path json = folder / "tokenizer.json"; file_exists(json)) {
    const std::string text = read_small_file(json, max_vocabulary_bytes);
    return Vocabulary::from_files(Unit::byte_level_bpe, {padded(text, json.string(), vocab_size)},
                                  {json.string()});
  }
  if (file_exists(folder / "merges.txt")) {
    check_gpt2_tokenizer(folder);
    return from_files(folder, Unit::byte_level_bpe, {"vocab.json", "merges.txt"});
  }
  throw_error(folder.string(), ": has neither tokenizer.vocab nor tokenizer.json",
              file_exists(model) ? "; spm_export_vocab --model=tokenizer.model "
                                   "--output=tokenizer.vocab writes the former"
                                 : "");
}

}  // namespace

Vocabulary read_vocabulary(const fs::path& folder, const ForeignConfig& config) {
  if (config.source == Source::heed)
    return vocabulary_of(config.metadata, (folder / "config.json").string());
  if (config.source == Source::bert) {
    check_bert_tokenizer(folder);
    return from_files(folder, Unit::word_piece, {"vocab.txt"});
  }
  if (file_exists(folder / "meta.json")) return in_meta_json(folder / "meta.json");
  if (config.source == Source::llama) return llama_vocabulary(folder, config.model.vocab_size);
  check_gpt2_tokenizer(folder);
  return from_files(folder, Unit::byte_level_bpe, {"vocab.json", "merges.txt"});
}

std::map<std::string, std::string> vocabulary_files(const Vocabulary& vocabulary) {
  const std::vector<std::string>& texts = vocabulary.files();
  if (vocabulary.unit() == Unit::byte_level_bpe && texts.size() == 1)
    return {{"tokenizer.json", texts[0]}};
  if (vocabulary.unit() == Unit::byte_level_bpe)
    return {{"vocab.json", texts[0]}, {"merges.txt", texts[1]}};
  if (vocabulary.unit() == Unit::sentence_piece) return {{"tokenizer.vocab", texts[0]}};
  if (vocabulary.unit() == Unit::word_piece) return {{"vocab.txt", texts[0]}};
  return {{"meta.json", meta_json(vocabulary)}};
}

}  // namespace HEED_NAMESPACE::hugging_face
