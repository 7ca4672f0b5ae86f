// llama_cpp_test.cpp: the tokenizers' test texts of llama.cpp (README.md of this folder).

#include <functional>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "catch.hpp"
#include "foreign/folder.hpp"
#include "foreign/gguf.hpp"
#include "heed/text/word_piece.hpp"
#include "scratch_folder.hpp"
#include "text/byte_level_bpe.hpp"
#include "text/sentence_piece.hpp"

using namespace heed;
using heed_test::content;
using heed_test::Gguf;
using nlohmann::json;

namespace {

using Ids = std::vector<std::size_t>;
using Encoder = std::function<Ids(const std::string&)>;

// BERT's pieces. The file writes "▁x" for "x" and "x" for "##x".
Encoder word_piece(const Gguf& file) {
  std::string lines;
  for (const std::string& token : file.texts.at("tokenizer.ggml.tokens")) {
    const bool special = token.front() == '[' && token.back() == ']';
    const bool begins_word = token.substr(0, 3) == "\u2581";
    lines += (special ? token : begins_word ? token.substr(3) : "##" + token) + "\n";
  }
  return [pieces = WordPiece::from_contents(lines)](const std::string& text) {
    return pieces.encode(text);
  };
}

Encoder sentence_piece(const Gguf& file) {
  const auto& tokens = file.texts.at("tokenizer.ggml.tokens");
  std::ostringstream lines;
  lines.precision(std::numeric_limits<float>::max_digits10);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    lines << tokens[i] << '\t' << file.floats.at("tokenizer.ggml.scores").at(i) << '\n';
  return [pieces = SentencePiece::from_contents(lines.str())](const std::string& text) {
    const Ids ids = pieces.encode(text);
    return Ids(ids.begin() + 1, ids.end());  // without <s>
  };
}

// The tokenizer.json of a byte-level BPE, whose pre-tokenizer the file only names.
std::string tokenizer_json(const Gguf& file) {
  const std::string pre = file.texts.at("tokenizer.ggml.pre").at(0);
  const json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  const json digits = {{"type", "Digits"}, {"individual_digits", true}};
  json result = {{"model", {{"type", "BPE"}, {"merges", file.texts.at("tokenizer.ggml.merges")}}},
                 {"pre_tokenizer", bytes}};
  if (pre == "starcoder" || pre == "refact")
    result["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {digits, bytes}}};
  else if (pre == "mpt")
    result["normalizer"] = {{"type", "NFC"}};
  else if (pre != "gpt-2")
    throw std::runtime_error("the pre-tokenizer " + pre);
  const auto& tokens = file.texts.at("tokenizer.ggml.tokens");
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::size_t type = file.integers.at("tokenizer.ggml.token_type").at(i);
    if (type == 1)  // normal; 3: control; 4: user-defined
      result["model"]["vocab"][tokens[i]] = i;
    else
      result["added_tokens"].push_back({{"id", i}, {"content", tokens[i]}, {"special", type == 3}});
  }
  return result.dump();
}

Encoder byte_level(const std::string& tokenizer) {
  return [bpe = ByteLevelBpe::from_tokenizer_json(tokenizer)](const std::string& text) {
    return bpe.encode(text);
  };
}

// The tokenizer of a .gguf file or of a tokenizer.json.
Encoder encoder_of(const std::filesystem::path& vocabulary) {
  const std::string bytes = content(vocabulary);
  if (vocabulary.extension() == ".json") return byte_level(bytes);
  const Gguf file(bytes);
  const std::string model = file.texts.at("tokenizer.ggml.model").at(0);
  if (model == "bert") return word_piece(file);
  return model == "llama" ? sentence_piece(file) : byte_level(tokenizer_json(file));
}

// The texts of a .gguf.inp file; after each stands a line __ggml_vocab_test__.
std::vector<std::string> texts_in(const std::filesystem::path& file) {
  const std::string all = content(file), separator = "\n__ggml_vocab_test__\n";
  std::vector<std::string> texts;
  for (std::size_t begin = 0, end; begin < all.size(); begin = end + separator.size()) {
    end = all.find(separator, begin);
    REQUIRE(end != all.npos);
    texts.push_back(all.substr(begin, end - begin));
  }
  return texts;
}

std::vector<Ids> ids_in(const std::filesystem::path& file) {
  std::vector<Ids> all;
  std::istringstream lines(content(file));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    all.emplace_back(std::istream_iterator<std::size_t>(words),
                     std::istream_iterator<std::size_t>());
  }
  return all;
}

}  // namespace

TEST_CASE("texts have the token ids that llama.cpp publishes", "[foreign][llama_cpp]") {
  const std::string name =
      GENERATE("gpt-2.gguf", "starcoder.gguf", "refact.gguf", "mpt.gguf", "llama-bpe.json",
               "qwen2.json", "bert-bge.gguf", "llama-spm.gguf", "phi-3.gguf");
  std::filesystem::path file = heed_test::foreign("llama.cpp", "llama.cpp/ggml-vocab-" + name);
  if (file.empty()) return;
  const Encoder encode = encoder_of(file);
  const std::vector<std::string> texts = texts_in(file.replace_extension(".gguf.inp"));
  const std::vector<Ids> expected = ids_in(file.replace_extension(".out"));
  REQUIRE(texts.size() == 46);
  REQUIRE(expected.size() == texts.size());
  std::size_t equal = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    INFO(name << ": " << texts[i]);
    const Ids got = encode(texts[i]);
    CHECK(got == expected[i]);
    equal += got == expected[i];
  }
  std::cout << "llama.cpp: " << equal << " of 46 texts have the ids of " << name << '\n';
}
