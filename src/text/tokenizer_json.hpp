// tokenizer_json.hpp: the settings and tokens of Hugging Face's tokenizer.json.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/array/precision.hpp"
#include "text/special_tokens.hpp"

namespace HEED_NAMESPACE {

// The tokenizer.json of a byte-level byte-pair encoding, such as those of SmolLM2, Llama 3 and
// Qwen2. Tokens and merges are written as in vocab.json and merges.txt (see ByteLevelBpe).
struct TokenizerJson {
  // How a text is split into chunks: as GPT-2 does, as GPT-2 does between single digits (SmolLM2),
  // or by the regular expression of Llama 3 or Qwen2.
  enum class Chunks { gpt2, digits, llama3, qwen2 };

  // Throws Error `NAME: reason` for a damaged file, and for each setting that heed does not
  // support.
  TokenizerJson(std::string_view json, const std::string& name);

  Chunks chunks = Chunks::gpt2;
  bool composes = false;            // whether a text is brought to Normalization Form C first
  bool ignores_merges = false;      // whether a chunk that is a token is not split
  std::vector<std::string> tokens;  // as they are written, in the order of their ids
  std::vector<std::pair<std::string, std::string>> merges;
  TokensOfText special;                      // the special tokens, such as <|endoftext|>
  TokensOfText added;                        // added tokens that are not special
  std::optional<std::size_t> begin_of_text;  // the token with which each text begins
};

}  // namespace HEED_NAMESPACE
