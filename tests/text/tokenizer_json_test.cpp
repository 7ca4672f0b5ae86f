// tokenizer_json_test.cpp: tokenizer.json of SmolLM2, Llama 3 and Qwen2: ids, chunks, special
// tokens, errors.

#include "text/tokenizer_json.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/unicode.hpp"
#include "catch.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"
#include "message_of.hpp"
#include "text/byte_level_bpe.hpp"

namespace heed::test {

namespace {

using Json = nlohmann::json;
using Ids = std::vector<std::size_t>;
using Chunks = std::vector<std::string_view>;

const std::string folder = HEED_TESTS_DIR "/weights/";

const Json byte_level =
    Json::parse(R"({"type": "ByteLevel", "add_prefix_space": false, "use_regex": true})");
const Json smollm2_splits = Json::parse(R"j({"type": "Sequence", "pretokenizers": [
    {"type": "Digits", "individual_digits": true},
    {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}]})j");
const Json llama3_splits = Json::parse(R"j({"type": "Sequence", "pretokenizers": [
    {"type": "Split", "behavior": "Isolated", "invert": false, "pattern": {"Regex":
     "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"}},
    {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}]})j");

Json qwen2_splits() {
  Json splits = llama3_splits;
  std::string& expression = splits["pretokenizers"][0]["pattern"]["Regex"].get_ref<std::string&>();
  expression.erase(expression.find("{1,3}"), 5);
  return splits;
}

// The tokens and merges in weights/small.
Json small_json(const Json& pre_tokenizer) {
  Json merges = Json::array();
  for (const std::string& line : lines_of(read_text(folder + "small/merges.txt")))
    if (line.rfind("#version", 0) != 0) merges.push_back(line);
  return {{"normalizer", nullptr},
          {"pre_tokenizer", pre_tokenizer},
          {"post_processor", nullptr},
          {"added_tokens", Json::array()},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model",
           {{"type", "BPE"},
            {"vocab", Json::parse(read_text(folder + "small/vocab.json"))},
            {"merges", merges}}}};
}

Json tiny_json() {
  Json json = small_json(byte_level);
  json["model"]["vocab"] = {{"a", 0}, {"b", 1}, {"c", 2}, {"ab", 3}, {"bc", 4}, {"abc", 5}};
  json["model"]["merges"] = Json::parse(R"([["b", "c"], ["a", "bc"], ["a", "b"]])");
  json["added_tokens"] = {{{"id", 6}, {"content", "<|begin|>"}, {"special", true}},
                          {{"id", 7}, {"content", "<tool>"}, {"special", false}}};
  return json;
}

ByteLevelBpe bpe(const Json& json) { return ByteLevelBpe::from_tokenizer_json(json.dump(), "t"); }

std::string error_of(const Json& json) {
  return message_of([&] { bpe(json); });
}

Json with(const std::string& pointer, const std::string& value) {
  Json json = tiny_json();
  json[Json::json_pointer(pointer)] = Json::parse(value);
  return json;
}

}  // namespace

TEST_CASE(
    "400 texts have the ids of another implementation with the settings of SmolLM2, Llama 3 and "
    "Qwen2",
    "[text][weights][tokenizer_json]") {
  Json llama3 = small_json(llama3_splits);
  llama3["model"]["ignore_merges"] = true;
  Json qwen2 = small_json(qwen2_splits());
  qwen2["normalizer"] = {{"type", "NFC"}};
  const ByteLevelBpe tokenizers[] = {bpe(small_json(smollm2_splits)), bpe(llama3), bpe(qwen2)};
  std::ifstream texts(folder + "golden_small.txt"), expected(folder + "golden_json.txt");
  std::size_t lines = 0;
  for (std::string text, ids; std::getline(texts, text) && std::getline(expected, ids); ++lines) {
    const std::string content = Json::parse(text)[0];
    INFO(content);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(tokenizers[i].encode(content) == Json::parse(ids)[i].get<Ids>());
      CHECK(tokenizers[i].decode(tokenizers[i].encode(content)) ==
            (i == 2 ? composed(content) : content));
    }
  }
  CHECK(lines == 400);
}

TEST_CASE("chunks are those of Llama 3's regular expression", "[text][tokenizer_json]") {
  CHECK(llama3_chunks("I'LL say: it'S 12345 o'clock") ==
        Chunks{"I", "'LL", " say", ":", " it", "'S", " ", "123", "45", " o", "'clock"});
  CHECK(llama3_chunks("\tx (y)\n\n  z") == Chunks{"\tx", " (", "y", ")\n\n", " ", " z"});
  CHECK(llama3_chunks("a \r\n \n b  ") == Chunks{"a", " \r\n \n", " b", "  "});
  CHECK(llama3_chunks("it'\u017ft 'x \u00a0\u00a0y") ==
        Chunks{"it", "'\u017f", "t", " '", "x", " \u00a0", "\u00a0y"});
  CHECK(llama3_chunks("").empty());
}

TEST_CASE("chunks between single digits are those of GPT-2's expression",
          "[text][tokenizer_json]") {
  CHECK(digit_chunks("in 1984 it's\u0663x") ==
        Chunks{"in", " ", "1", "9", "8", "4", " it", "'s", "\u0663", "x"});
  CHECK(digit_chunks("12") == Chunks{"1", "2"});
  CHECK(digit_chunks("").empty());
}

TEST_CASE("Qwen2's expression has single digits", "[text][tokenizer_json]") {
  CHECK(qwen2_chunks("I'LL 123 \u0663\u0664x") ==
        Chunks{"I", "'LL", " ", "1", "2", "3", " ", "\u0663", "\u0664", "x"});
  CHECK(qwen2_chunks("").empty());
}

TEST_CASE("a normalizer NFC composes a text, but not across added tokens",
          "[text][tokenizer_json]") {
  Json json = small_json(qwen2_splits());
  const auto size = json["model"]["vocab"].size();
  json["added_tokens"] = {
      {{"id", size}, {"content", "<tool>"}, {"special", false}, {"normalized", false}}};
  const ByteLevelBpe plain = bpe(json);
  json["normalizer"] = {{"type", "NFC"}};
  const ByteLevelBpe composing = bpe(json);
  CHECK(plain.encode("cafe\u0301") != plain.encode("caf\u00e9"));
  CHECK(composing.encode("cafe\u0301") == plain.encode("caf\u00e9"));
  CHECK(composing.encode("a<tool>\u0338b") == plain.encode("a<tool>\u0338b"));
  CHECK(composing.encode(">\u0338") == plain.encode("\u226f"));
  CHECK(message_of([&] { composing.encode("ab\xff"); }) ==
        "encode: the text is not UTF-8 at byte 2 (0xff); convert it with iconv -t UTF-8");
  json["added_tokens"][0]["normalized"] = true;
  CHECK(error_of(json).rfind("t: 'added_tokens.normalized' is true; heed reads", 0) == 0);
}

TEST_CASE("added tokens, special tokens and the token at the start", "[text][tokenizer_json]") {
  const ByteLevelBpe plain = bpe(tiny_json());
  CHECK(plain.size() == 8);
  CHECK(plain.encode("a<tool>b") == Ids{0, 7, 1});  // not special: always a token
  CHECK(plain.encode("a<|begin|>b", SpecialTokens::as_tokens) == Ids{0, 6, 1});
  CHECK(plain.decode({6, 0, 7}) == "<|begin|>a<tool>");
  CHECK_FALSE(plain.begin_of_text());
  Json json = tiny_json();
  json["post_processor"] = Json::parse(R"({"type": "Sequence", "processors": [
      {"type": "ByteLevel"},
      {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<|begin|>", "type_id": 0}},
                                                {"Sequence": {"id": "A", "type_id": 0}}]}]})");
  const ByteLevelBpe begins = bpe(json);
  CHECK(begins.encode("a") == Ids{6, 0});
  CHECK(begins.encode("<|begin|>a", SpecialTokens::as_tokens) == Ids{6, 0});
  CHECK(begins.encode("") == Ids{6});
  const Vocabulary vocabulary = Vocabulary::from_files(Unit::byte_level_bpe, {json.dump()}, {"t"});
  CHECK(vocabulary.first_token() == 6);
  CHECK(vocabulary.size() == 8);
}

TEST_CASE("merges apply one by one, and ignore_merges takes whole chunks",
          "[text][tokenizer_json]") {
  CHECK(bpe(tiny_json()).encode("abc") == Ids{5});
  Json json = tiny_json();
  json["model"]["merges"] = {"a b", "b c"};  // none makes abc
  CHECK(bpe(json).encode("abc") == Ids{3, 2});
  json["model"]["ignore_merges"] = true;
  CHECK(bpe(json).encode("abc") == Ids{5});
  // Two merges make abc: the second joins abc and ab before another abc is made.
  json["model"]["vocab"]["abcab"] = 8;
  json["model"]["ignore_merges"] = false;
  json["model"]["merges"] = {"a b", "b c", "a bc", "abc ab", "ab c"};
  CHECK(bpe(json).encode("abcabc") == Ids{8, 2});
}

TEST_CASE("settings that heed does not support are rejected by name", "[text][tokenizer_json]") {
  CHECK(error_of(tiny_json()) == "");
  const std::string rest =
      "; heed reads the tokenizer.json of byte-level BPE, as of SmolLM2, Llama 3 and Qwen2, "
      "and tokenizer.vocab, which spm_export_vocab makes of a tokenizer.model";
  const std::vector<std::vector<std::string>> settings = {
      {"/normalizer", R"({"type": "NFKC"})", "'normalizer' is of the type 'NFKC'"},
      {"/pre_tokenizer", R"({"type": "Metaspace"})", "'pre_tokenizer' is of the type 'Metaspace'"},
      {"/pre_tokenizer", "null", "'pre_tokenizer' is null"},
      {"/pre_tokenizer/add_prefix_space", "true", "'pre_tokenizer' is of the type 'ByteLevel'"},
      {"/pre_tokenizer/use_regex", "false", "'pre_tokenizer' is of the type 'ByteLevel'"},
      {"/post_processor", R"({"type": "RobertaProcessing"})",
       "'post_processor' is of the type 'RobertaProcessing'"},
      {"/decoder", R"({"type": "WordPiece"})", "'decoder' is of the type 'WordPiece'"},
      {"/model/type", R"("Unigram")", "'model' is of the type 'Unigram'"},
      {"/model/byte_fallback", "true", "'model.byte_fallback' is true"},
      {"/model/dropout", "0.1", "'model.dropout' is 0.1"},
      {"/model/end_of_word_suffix", R"("</w>")", "'model.end_of_word_suffix' is \"</w>\""},
      {"/added_tokens/0/lstrip", "true", "'added_tokens.lstrip' is true"}};
  for (const auto& setting : settings)
    CHECK(error_of(with(setting[0], setting[1])) == "t: " + setting[2] + rest);
  Json split = tiny_json();
  split["pre_tokenizer"] = llama3_splits;
  CHECK(error_of(split) == "");
  split["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = "\\s+";
  CHECK(error_of(split) == "t: 'pre_tokenizer' is of the type 'Sequence'" + rest);
}

TEST_CASE("damaged tokens and merges of a tokenizer.json are rejected", "[text][tokenizer_json]") {
  const auto bad = [](const std::string& pointer, const std::string& value) {
    return error_of(with(pointer, value));
  };
  CHECK(message_of([] { ByteLevelBpe::from_tokenizer_json("{", "t"); }) ==
        "t: is not valid JSON in UTF-8 at its byte 2; download the file again");
  CHECK(message_of([] { ByteLevelBpe::from_tokenizer_json("[1]", "t"); }).rfind("t: 'model'", 0) ==
        0);
  CHECK(bad("/model/vocab", "[]") == "t: 'model.vocab' is missing or has the wrong type");
  CHECK(bad("/model/merges", "{}") == "t: 'model.merges' is missing or has the wrong type");
  CHECK(bad("/model/merges/0", "\"bc\"") == "t: merge 1 must be two tokens");
  CHECK(bad("/model/merges/1", "[\"a\"]") == "t: merge 2 must be two tokens");
  CHECK(bad("/model/merges/0", "[\"c\", \"c\"]") ==
        "t: a merge makes or joins 'cc', which is no token");
  CHECK(bad("/model/merges/1", "[\"b\", \"c\"]") == "t: the merge of 'b' and 'c' is twice");
  CHECK(bad("/model/vocab/a", "-1") ==
        "t: token 'a': its id is -1, not a whole number below 10000000");
  CHECK(bad("/model/vocab/a", "99999999") ==
        "t: token 'a': its id is 99999999, not a whole number below 10000000");
  CHECK(bad("/model/vocab/a", "1") == "t: id 1 has the tokens 'a' and 'b'");
  CHECK(bad("/added_tokens/1/id", "9") == "t: no token has the id 7; the ids must have no holes");
  CHECK(bad("/added_tokens/1/content", "1") ==
        "t: 'added_tokens.content' is missing or has the wrong type");
  CHECK(bad("/model/vocab/\u20ac", "8").rfind("t: id 8: '\u20ac' has the character U+20AC", 0) ==
        0);
}

}  // namespace heed::test
