// sentence_piece.hpp: the tokenizer of Llama and Llama 2, a byte-pair encoding with scores.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heed/text/vocabulary.hpp"
#include "text/special_tokens.hpp"

namespace HEED_NAMESPACE {

// Byte-pair encoding as in SentencePiece (Kudo and Richardson 2018), with the settings of Llama: a
// space is put before a text, each character is a token, and the two neighbours whose concatenation
// has the highest score are joined, again and again. What is then no token becomes its bytes.
//
// A vocabulary is a text with a line "PIECE<tab>SCORE" for each token, as spm_export_vocab writes
// it; line 1 is token 0. A space is written '▁' (U+2581). <unk>, <s> and </s> are special tokens,
// <0x00> to <0xFF> are bytes.
class SentencePiece {
 public:
  // Throws Error `NAME: reason`, with the line, unless the pieces are distinct, not empty and
  // UTF-8, the scores are finite, and <s> and all bytes are among the pieces.
  static SentencePiece from_contents(std::string_view vocabulary,
                                     const std::string& name = "tokenizer.vocab");

  std::size_t size() const { return pieces_.size(); }           // the number of tokens
  std::size_t begin_of_text() const { return begin_of_text_; }  // <s>, with which a text begins
  std::size_t find(unsigned char ascii) const;  // the piece of this character, or <0xNN>

  // The token ids of a UTF-8 text, which begin with <s>. Throws Error if the text is not UTF-8.
  // Takes O(n log n) time for n bytes.
  std::vector<std::size_t> encode(std::string_view text,
                                  SpecialTokens special = SpecialTokens::as_text) const;
  // The text of the tokens, the special ones as they are written. The piece after <s> has no space
  // at its start. Throws Error for an id of size() or more.
  std::string decode(const std::vector<std::size_t>& ids) const;

 private:
  struct Piece {
    std::string text;  // what decode() gives: a piece with spaces, or a byte
    float score;
  };
  void add_piece(std::string_view written, float score, const std::string& place);
  void check_complete(const std::string& name) const;
  void append_text(std::string_view text, std::vector<std::size_t>& ids) const;
  void append_piece(std::string_view text, std::vector<std::size_t>& ids) const;

  std::vector<Piece> pieces_;
  std::unordered_map<std::string, std::size_t> ids_;  // of the pieces that merges can make
  TokensOfText special_;                              // <unk>, <s> and </s>
  std::array<std::size_t, 256> bytes_{};              // <0x00> to <0xFF>
  std::size_t begin_of_text_ = 0;

  friend class PieceMerger;
};

}  // namespace HEED_NAMESPACE
