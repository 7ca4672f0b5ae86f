// tokenizer_json.cpp: reads the settings and tokens of Hugging Face's tokenizer.json.

#include "text/tokenizer_json.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {
namespace {

// The expressions of Llama 3 and Qwen2 differ in the number of digits.
std::string expression_with(const char* digits) {
  return std::string(R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|)") + digits +
         R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
}

std::string shown(const Json& value) {
  if (value.is<Json::List>()) return "a list";
  const Json* const type = value.find("type");
  if (type != nullptr && type->is<std::string>())
    return "of the type " + in_quotes(type->get<std::string>());
  return value.is<Json::Object>() ? "an object" : value.dump();
}

// The file's name for error messages, and its checks.
struct Reader {
  [[noreturn]] void reject(const std::string& key, const Json& value) const {
    throw_error(
        name, ": '", key, "' is ", shown(value),
        "; heed reads the tokenizer.json of byte-level BPE, as of SmolLM2, Llama 3 and Qwen2, "
        "and tokenizer.vocab, which spm_export_vocab makes of a tokenizer.model");
  }
  // The value of a key; null without the key.
  static Json value(const Json& object, const std::string& key) {
    const Json* const found = object.find(key);
    return found == nullptr ? Json() : *found;
  }
  // Rejects a value of a key that is neither null nor the supported one.
  void require(const Json& object, const std::string& place, const std::string& key,
               const Json& supported) const {
    const Json given = value(object, key);
    if (!given.is_null() && given != supported) reject(place + "." + key, given);
  }
  template <class T>
  const T& required(const Json& object, const std::string& place, const std::string& key) const {
    const Json* const found = object.find(key);
    if (found == nullptr || !found->is<T>())
      throw_error(name, ": '", place, key, "' is missing or has the wrong type");
    return found->get<T>();
  }

  const std::string& name;
};

bool has_type(const Json& object, const char* type) {
  return Reader::value(object, "type") == Json(type);
}

// The parts of a Sequence; the object itself if it is none.
Json::List parts_of(const Json& object, const char* key) {
  if (object.is_null()) return {};
  const Json* const parts = has_type(object, "Sequence") ? object.find(key) : nullptr;
  return parts != nullptr && parts->is<Json::List>() ? parts->get<Json::List>()
                                                     : Json::List{object};
}

bool is_byte_level(const Json& part, bool uses_expression) {
  const Json expression = Reader::value(part, "use_regex");
  return has_type(part, "ByteLevel") && Reader::value(part, "add_prefix_space") == Json(false) &&
         (expression.is_null() ? uses_expression : expression == Json(uses_expression));
}

bool is_split(const Json& part, const char* digits) {
  return has_type(part, "Split") && Reader::value(part, "behavior") == Json("Isolated") &&
         Reader::value(part, "invert") == Json(false) &&
         Reader::value(Reader::value(part, "pattern"), "Regex") == Json(expression_with(digits));
}

TokenizerJson::Chunks chunks_of(const Reader& reader, const Json& json) {
  const Json whole = Reader::value(json, "pre_tokenizer");
  const Json::List parts = parts_of(whole, "pretokenizers");
  if (parts.size() == 1 && is_byte_level(parts[0], true)) return TokenizerJson::Chunks::gpt2;
  if (parts.size() == 2 && has_type(parts[0], "Digits") &&
      Reader::value(parts[0], "individual_digits") == Json(true) && is_byte_level(parts[1], true))
    return TokenizerJson::Chunks::digits;
  const bool is_pair = parts.size() == 2 && is_byte_level(parts[1], false);
  if (is_pair && is_split(parts[0], R"(\p{N}{1,3})")) return TokenizerJson::Chunks::llama3;
  if (is_pair && is_split(parts[0], R"(\p{N})")) return TokenizerJson::Chunks::qwen2;
  reader.reject("pre_tokenizer", whole);
}

// The token that a post-processor puts before a text, if it does nothing else.
std::optional<std::string> token_before(const Reader& reader, const Json& json) {
  std::optional<std::string> token;
  const Json whole = Reader::value(json, "post_processor");
  for (const Json& part : parts_of(whole, "processors")) {
    if (has_type(part, "ByteLevel")) continue;
    const Json single = Reader::value(part, "single");
    const bool is_template = has_type(part, "TemplateProcessing") && single.is<Json::List>() &&
                             single.get<Json::List>().size() == 2 && !token;
    const Json id =
        is_template ? Reader::value(Reader::value(single[0], "SpecialToken"), "id") : Json();
    if (!id.is<std::string>() || Reader::value(single[1], "Sequence").is_null())
      reader.reject("post_processor", whole);
    token = id.get<std::string>();
  }
  return token;
}

void check_model(const Reader& reader, const Json& json, const Json& model) {
  if (!has_type(model, "BPE")) reader.reject("model", model);
  reader.require(model, "model", "dropout", nullptr);
  reader.require(model, "model", "byte_fallback", false);
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"})
    reader.require(model, "model", key, "");
  const Json normalizer = Reader::value(json, "normalizer");
  if (!normalizer.is_null() && !has_type(normalizer, "NFC"))
    reader.reject("normalizer", normalizer);
  const Json decoder = Reader::value(json, "decoder");
  if (!decoder.is_null() && !has_type(decoder, "ByteLevel")) reader.reject("decoder", decoder);
}

std::pair<std::string, std::string> merge_of(const Reader& reader, const Json& merge,
                                             std::size_t number) {
  if (merge.is<Json::List>() && merge.get<Json::List>().size() == 2 && merge[0].is<std::string>() &&
      merge[1].is<std::string>())
    return {merge[0].get<std::string>(), merge[1].get<std::string>()};
  if (merge.is<std::string>()) {
    const std::string& text = merge.get<std::string>();
    const std::size_t space = text.find(' ');
    if (space != 0 && space < text.size() - 1 && text.find(' ', space + 1) == text.npos)
      return {text.substr(0, space), text.substr(space + 1)};
  }
  throw_error(reader.name, ": merge ", number, " must be two tokens");
}

// Puts a token at its id. A token that is there already must be the same.
void put_token(const Reader& reader, std::vector<std::string>& tokens, const std::string& token,
               const Json& id) {
  constexpr std::size_t max_tokens = 10'000'000;
  if (!id.is<std::uint64_t>() || id.get<std::uint64_t>() >= max_tokens)
    throw_error(reader.name, ": token ", in_quotes(token), ": its id is ", shown(id),
                ", not a whole number below ", max_tokens);
  const auto i = static_cast<std::size_t>(id.get<std::uint64_t>());
  if (i >= tokens.size()) tokens.resize(i + 1);
  if (token.empty() || (!tokens[i].empty() && tokens[i] != token))
    throw_error(reader.name, ": id ", i, " has the tokens ", in_quotes(tokens[i]), " and ",
                in_quotes(token));
  tokens[i] = token;
}

// Reads the added tokens. Their settings say which characters around them belong to them.
void read_added(const Reader& reader, const Json& json, TokenizerJson& result) {
  if (Reader::value(json, "added_tokens").is_null()) return;
  for (const Json& added : reader.required<Json::List>(json, "", "added_tokens")) {
    for (const char* key : {"single_word", "lstrip", "rstrip"})
      reader.require(added, "added_tokens", key, false);
    if (result.composes) reader.require(added, "added_tokens", "normalized", false);
    const std::string& content = reader.required<std::string>(added, "added_tokens.", "content");
    const Json id = Reader::value(added, "id");
    put_token(reader, result.tokens, content, id);
    const bool is_special = Reader::value(added, "special") == Json(true);
    (is_special ? result.special : result.added).emplace_back(content, id.get<std::uint64_t>());
  }
}

// Throws Error for an id without a token.
void check_ids(const Reader& reader, const std::vector<std::string>& tokens) {
  for (std::size_t id = 0; id < tokens.size(); ++id)
    if (tokens[id].empty())
      throw_error(reader.name, ": no token has the id ", id, "; the ids must have no holes");
}

Json parsed(std::string_view text, const std::string& name) {
  if (const std::size_t zero = text.find('\0'); zero != text.npos)  // the parser would stop there
    throw_error(name, ": has a zero byte at ", zero, "; download the file again");
  try {
    return Json::parse(text);
  } catch (const JsonError& error) {
    throw_error(name, ": is not valid JSON in UTF-8 at its byte ", error.byte,
                "; download the file again");
  }
}

}  // namespace

TokenizerJson::TokenizerJson(std::string_view text, const std::string& name) {
  const Reader reader{name};
  const Json json = parsed(text, name);
  const Json model = Reader::value(json, "model");
  check_model(reader, json, model);
  chunks = chunks_of(reader, json);
  composes = !Reader::value(json, "normalizer").is_null();
  ignores_merges = Reader::value(model, "ignore_merges") == Json(true);
  for (const auto& [token, id] : reader.required<Json::Object>(model, "model.", "vocab"))
    put_token(reader, tokens, token, id);
  for (const Json& merge : reader.required<Json::List>(model, "model.", "merges"))
    merges.push_back(merge_of(reader, merge, merges.size() + 1));
  read_added(reader, json, *this);
  check_ids(reader, tokens);
  if (const auto token = token_before(reader, json)) {
    const auto found = std::find_if(special.begin(), special.end(),
                                    [&](const auto& each) { return each.first == *token; });
    if (found == special.end())
      throw_error(name, ": 'post_processor' has ", in_quotes(*token),
                  ", which is no special token");
    begin_of_text = found->second;
  }
}

}  // namespace HEED_NAMESPACE
