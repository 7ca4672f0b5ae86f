// byte_level_bpe.hpp: the tokenizers of GPT-2, SmolLM2, Llama 3 and Qwen2, a byte-level byte-pair
// encoding.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heed/text/vocabulary.hpp"
#include "text/byte_level_chunks.hpp"
#include "text/merges.hpp"
#include "text/tokenizer_json.hpp"

namespace HEED_NAMESPACE {

// The byte-level byte-pair encoding of GPT-2 (Radford et al. 2019, section 2.2) with a given
// vocabulary. A text is split into chunks, the bytes of a chunk are tokens, and the merges join
// neighbouring tokens, the earliest merge in the list first. BytePairs learns such merges; this
// class reads those of a published model.
//
// vocab.json maps each token to its id. merges.txt has a line for each merge, in the order of
// training: two tokens, separated by a space. In both files every byte is one visible character:
// the bytes 33 to 126, 161 to 172 and 174 to 255 are the code points of the same number, the other
// 68 are U+0100 to U+0143 in order. So a space is 'Ġ', and " door" is written 'Ġdoor'.
class ByteLevelBpe {
 public:
  // Reads the two files. Throws Error `FILE: reason`, with the entry or the line, unless the ids
  // are 0 to size() - 1, each merge joins two tokens that are bytes or results of earlier merges,
  // the results of the merges have ascending ids, and the merges make all tokens but single bytes,
  // <...>, [...] and at most 1 % of others. Each file may have up to 32 MB.
  static ByteLevelBpe load(const std::filesystem::path& vocab_json,
                           const std::filesystem::path& merges_txt);
  // Reads the contents of the two files. The names stand in error messages.
  static ByteLevelBpe from_contents(std::string_view vocab_json, std::string_view merges_txt,
                                    const std::string& vocab_name = "vocab.json",
                                    const std::string& merges_name = "merges.txt");

  // Reads a tokenizer.json of Hugging Face. Throws Error `NAME: reason` for a damaged file and for
  // settings that heed does not support (see TokenizerJson). Several merges may make one token.
  static ByteLevelBpe from_tokenizer_json(std::string_view json,
                                          const std::string& name = "tokenizer.json");

  std::size_t size() const { return tokens_.size(); }  // the number of tokens
  // The bytes of a token, such as " door". Throws Error for an id of size() or more.
  const std::string& piece(std::size_t id) const;
  // The id of the token <|endoftext|>, if the vocabulary has it.
  std::optional<std::size_t> end_of_text() const { return end_of_text_; }
  // The token with which encode() begins each text, such as Llama 3's <|begin_of_text|>.
  std::optional<std::size_t> begin_of_text() const { return begin_of_text_; }

  // The token ids of a UTF-8 text. Throws Error if the text is not UTF-8, or if it has a byte that
  // the vocabulary lacks. Takes O(n log n) time for n bytes, even in a single word.
  std::vector<std::size_t> encode(std::string_view text,
                                  SpecialTokens special = SpecialTokens::as_text) const;

  // The bytes of the tokens, one after the other: the inverse of encode (of a text in Normalization
  // Form C, where the tokenizer composes texts, as Qwen2's does). A part of the ids of a text can
  // end inside a character. Throws Error for an id of size() or more.
  std::string decode(const std::vector<std::size_t>& ids) const;

  // Splits a UTF-8 text into the chunks in which tokens are merged, as GPT-2's regular expression
  // does (see gpt2_chunks). Throws Error if the text is not UTF-8.
  static std::vector<std::string_view> chunks_of(std::string_view text) {
    return gpt2_chunks(text);
  }

 private:
  void read_merges(std::string_view text, const std::string& name, const std::string& vocab_name);
  void check_made(const std::vector<char>& made, const std::string& name) const;
  void append_chunk(std::string_view chunk, std::vector<std::size_t>& ids) const;
  void append_text(std::string_view text, std::vector<std::size_t>& ids) const;
  void read_tokens(const TokenizerJson& json, const std::string& name);

  std::vector<std::string> tokens_;           // the bytes of each token
  std::array<std::int64_t, 256> byte_ids_{};  // the token of each byte; -1: none
  Merges merges_;
  Merges::Order order_ = Merges::Order::all_occurrences;
  bool composes_ = false;  // whether encode() brings a text to Normalization Form C
  std::optional<std::size_t> end_of_text_, begin_of_text_;
  TokensOfText special_, added_;  // tokens on request, and tokens in any case
  std::unordered_map<std::string, std::uint32_t> whole_chunks_;  // tokens that need no merges
  std::vector<std::string_view> (*chunks_)(std::string_view) = gpt2_chunks;
};

}  // namespace HEED_NAMESPACE
