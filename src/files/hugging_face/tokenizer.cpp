// tokenizer.cpp: checks the settings of a folder's tokenizer, in config.json, tokenizer_config.json
// and tokenizer.json, of which heed supports those of GPT-2 and of uncased BERT.

#include "files/hugging_face/tokenizer.hpp"

#include <algorithm>

#include "files/hugging_face/json.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE::hugging_face {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_bytes = 32'000'000;  // tokenizer.json repeats the vocabulary

constexpr const char* uncased = "heed imports uncased models of BERT";
constexpr const char* byte_level = "heed imports models of GPT-2 with its byte-level tokenizer";

// The content of a file, or an empty object if the folder has no such file.
struct Settings {
  Settings(const fs::path& path, const char* the_remedy)
      : file(path.string()),
        json(file_exists(path) ? parsed_object(path, max_bytes) : Json(Json::Object())),
        remedy(the_remedy) {}

  bool is_empty() const { return json.get<Json::Object>().empty(); }

  // The value of a key; null without the key.
  static Json value(const Json& object, const std::string& key) {
    const Json* const found = object.find(key);
    return found == nullptr ? Json() : *found;
  }

  [[noreturn]] void reject(const std::string& key, const Json& value) const {
    throw_error(file, ": '", key, "' is ", short_text(value), "; ", remedy);
  }

  // Throws Error unless a key is missing, null or has the supported value. `part` is "", or the key
  // of the object that has the keys, which must be there.
  void require(const std::string& part, const std::map<std::string, Json>& supported) const {
    if (is_empty()) return;
    const Json object = part.empty() ? json : value(json, part);
    if (!object.is<Json::Object>()) reject(part, object);
    for (const auto& [key, expected] : supported)
      if (const Json given = value(object, key); !given.is_null() && given != expected)
        reject((part.empty() ? "" : part + ".") + key, given);
  }

  // Throws Error if the file names another class of tokenizers.
  void require_class(const std::string& supported) const {
    const Json name = value(json, "tokenizer_class");
    for (const std::string& known :
         {supported, supported + "Fast", std::string("PreTrainedTokenizerFast")})
      if (name.is_null() || name == Json(known)) return;
    reject("tokenizer_class", name);
  }

  std::string file;
  Json json;
  std::string remedy;
};

// Throws Error if the vocabulary has ordinary tokens with capital letters, which a text in lower
// case never has.
void check_no_capitals(const fs::path& vocab_txt) {
  const std::string text = read_small_file(vocab_txt, max_bytes);
  for (const std::string& line : lines_of(text))
    if (line[0] != '[' &&
        std::any_of(line.begin(), line.end(), [](char c) { return c >= 'A' && c <= 'Z'; }))
      throw_error(vocab_txt.string(), ": has the token ", in_quotes(line),
                  ", as the vocabulary of a cased model has; ", uncased,
                  ". If this one is uncased, write {\"do_lower_case\": true} to ",
                  (vocab_txt.parent_path() / "tokenizer_config.json").string());
}

}  // namespace

void check_gpt2_tokenizer(const fs::path& folder) {
  const Settings config(
      folder / "tokenizer_config.json",
      "heed imports models of GPT-2 whose tokenizer adds no space before the text");
  config.require("", {{"add_prefix_space", false}});
  for (const char* name : {"config.json", "tokenizer_config.json"})
    Settings(folder / name, byte_level).require_class("GPT2Tokenizer");
  const Settings tokenizer(folder / "tokenizer.json", byte_level);
  tokenizer.require("", {{"normalizer", nullptr}});
  tokenizer.require("model", {{"type", "BPE"}});
  tokenizer.require("pre_tokenizer",
                    {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}});
}

void check_bert_tokenizer(const fs::path& folder) {
  // The keys by which WordPiece lowers the case, drops accents and separates Chinese characters.
  const Settings config(folder / "tokenizer_config.json", uncased);
  config.require("", {{"do_lower_case", true},
                      {"strip_accents", true},
                      {"tokenize_chinese_chars", true},
                      {"do_basic_tokenize", true}});
  for (const char* name : {"config.json", "tokenizer_config.json"})
    Settings(folder / name, "heed has the tokenizer of BERT, BertTokenizer")
        .require_class("BertTokenizer");
  const Settings tokenizer(folder / "tokenizer.json", uncased);
  tokenizer.require("normalizer", {{"type", "BertNormalizer"},
                                   {"clean_text", true},
                                   {"handle_chinese_chars", true},
                                   {"strip_accents", true},
                                   {"lowercase", true}});
  tokenizer.require("pre_tokenizer", {{"type", "BertPreTokenizer"}});
  tokenizer.require("model", {{"type", "WordPiece"},
                              {"unk_token", "[UNK]"},
                              {"continuing_subword_prefix", "##"},
                              {"max_input_chars_per_word", 100}});
  if (!config.json.contains("do_lower_case") && tokenizer.is_empty())
    check_no_capitals(folder / "vocab.txt");
}

}  // namespace HEED_NAMESPACE::hugging_face
