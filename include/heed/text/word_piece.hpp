// word_piece.hpp: BERT's uncased WordPiece tokenizer, loaded from vocab.txt.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE {

// WordPiece as in BERT's uncased models (Devlin et al. 2019, section 3; the algorithm: Wu et al.
// 2016, section 4.1). A text is normalized and split into words; a word becomes the longest token
// that it begins with, then the longest token '##...' that its rest begins with, and so on.
//
// vocab.txt has one token a line; the first line is token 0. It must contain the five special
// tokens [PAD], [UNK], [CLS], [SEP] and [MASK], which are found in a text before everything else.
class WordPiece {
 public:
  // Reads the file. Throws Error `FILE: reason`, with the line, unless the tokens are distinct, not
  // empty and UTF-8, and the special tokens are among them. The file may have up to 32 MB.
  static WordPiece load(const std::filesystem::path& vocab_txt);
  // Reads the contents of the file. `name` is the file's name in error messages.
  static WordPiece from_contents(std::string_view vocab_txt, const std::string& name = "vocab.txt");

  std::size_t size() const { return tokens_.size(); }  // the number of tokens
  // A token, such as "door" or "##ing". Throws Error for an id of size() or more.
  const std::string& piece(std::size_t id) const;
  std::optional<std::size_t> find(std::string_view piece) const;  // the id of a token

  // The ids of the special tokens.
  std::size_t pad() const { return special_[0]; }
  std::size_t unk() const { return special_[1]; }
  std::size_t cls() const { return special_[2]; }
  std::size_t sep() const { return special_[3]; }
  std::size_t mask() const { return special_[4]; }

  // The token ids of a UTF-8 text, without [CLS] and [SEP] around them. A word of more than 100
  // characters, or with a part that no token matches, becomes [UNK]. Throws Error if the text is
  // not UTF-8. Takes linear time.
  std::vector<std::size_t> encode(std::string_view text) const;
  // What BERT reads: [CLS], the tokens of the text, [SEP].
  std::vector<std::size_t> encode_sequence(std::string_view text) const;

  // The tokens as text: a space before each token that does not begin with ##. Not the inverse of
  // encode, which forgets case, accents and white space. Throws Error for an id of size() or more.
  std::string decode(const std::vector<std::size_t>& ids) const;

  // The first steps of encode, for a text without special tokens.
  // normalized: removes control, format and private-use characters, U+0000 and U+FFFD, except that
  // tab, newline and carriage return become spaces; makes other white space a space; adds spaces
  // around Chinese characters; makes the text lower case, decomposes it (NFD) and removes the
  // nonspacing marks (accents). Throws Error if the text is not UTF-8.
  static std::string normalized(std::string_view text);
  // The words of a normalized text: splits it at white space, and before and after each punctuation
  // character (category P, and all ASCII characters that are not letters, digits or white space).
  static std::vector<std::string> words_of(std::string_view normalized_text);
  // The ids of the pieces of one word.
  std::vector<std::size_t> pieces_of(std::string_view word) const;

 private:
  std::optional<std::size_t> longest_piece(std::string_view prefix, std::string_view& rest) const;
  void append_text(std::string_view text, std::vector<std::size_t>& ids) const;

  std::vector<std::string> tokens_;
  std::unordered_map<std::string, std::uint32_t> ids_;  // the id of each token
  std::size_t longest_ = 0;                             // length of the longest token in bytes
  std::vector<std::size_t> special_;  // the ids of [PAD], [UNK], [CLS], [SEP], [MASK]
};

}  // namespace HEED_NAMESPACE
