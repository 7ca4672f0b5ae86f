// vocabulary.hpp: a vocabulary of characters, bytes, words, byte pairs or the pieces of a
// pretrained model, which encodes text as token ids and decodes token ids.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/array/precision.hpp"
#include "heed/text/byte_pairs.hpp"

namespace HEED_NAMESPACE {

class ByteLevelBpe;
class SentencePiece;
class WordPiece;

// The kind of token: a character (a Unicode code point), a byte, a token of byte-pair encoding, a
// word, or a token of a pretrained model: of GPT-2's byte-level BPE, of BERT's WordPiece, or of
// Llama's SentencePiece.
enum class Unit { code_point, byte, byte_pair, word, byte_level_bpe, word_piece, sentence_piece };

// Whether the tokens are made by merges, so that a part of a text cannot be encoded alone:
// byte_pair, byte_level_bpe and sentence_piece.
bool has_merges(Unit unit);

// What the characters of a special token, such as <|endoftext|> or <s>, mean in a text: ordinary
// text, or the token. (Special tokens of WordPiece, such as [MASK], are always tokens.)
enum class SpecialTokens { as_text, as_tokens };

// The tokens of a model in ascending order (words in byte order; tokens of byte-pair encoding in
// the order of learning). A token's id is its index, from 0 to size() - 1.
class Vocabulary {
 public:
  // A vocabulary of the distinct tokens of `text`. Words are separated by white space (see words_of
  // in text.hpp). Throws Error if the text is not UTF-8, unless the unit is byte. Byte pairs need
  // more than a text: see BytePairs.
  static Vocabulary of_text(std::string_view text, Unit unit = Unit::code_point);
  static Vocabulary from_words(std::string_view text) { return of_text(text, Unit::word); }

  // Builds a vocabulary from the code points or bytes in a checkpoint. Throws Error unless `values`
  // are strictly increasing and each is a code point or, for bytes, at most 255.
  Vocabulary(Unit unit, std::vector<std::uint32_t> values);
  // Builds a vocabulary from the words in a checkpoint. Throws Error unless the words are strictly
  // increasing, nonempty, UTF-8 and without white space.
  explicit Vocabulary(std::vector<std::string> words);
  // Builds a vocabulary of the tokens of a byte-pair encoding.
  explicit Vocabulary(BytePairs byte_pairs);
  // The vocabulary of a pretrained model, from the text of its files: for Unit::byte_level_bpe
  // vocab.json and merges.txt (GPT-2), or tokenizer.json alone (SmolLM2, Llama 3); vocab.txt for
  // Unit::word_piece; and for Unit::sentence_piece the text of spm_export_vocab, a line
  // "PIECE<tab>SCORE" for each token. `names` are the names of these files
  // in error messages. Throws Error for another unit or number of files, and for damaged files.
  static Vocabulary from_files(Unit unit, std::vector<std::string> texts,
                               const std::vector<std::string>& names);

  // The number of tokens.
  std::size_t size() const;
  Unit unit() const { return unit_; }                                       // the kind of token
  const std::vector<std::uint32_t>& characters() const { return values_; }  // code points or bytes
  const std::vector<std::string>& words() const { return words_; }  // empty unless the unit is word
  // Undefined unless the unit is byte_pair.
  const std::optional<BytePairs>& byte_pairs() const { return byte_pairs_; }
  // The texts of from_files(); empty for other units.
  const std::vector<std::string>& files() const { return files_; }

  // The id of a code point, byte, word or piece of WordPiece, or -1 if the vocabulary does not
  // contain it.
  std::int64_t find(std::uint32_t value) const { return value < ids_.size() ? ids_[value] : -1; }
  std::int64_t find(std::string_view word) const;
  // The id of a code point or byte. Throws Error for an unknown token, such as "'é' (U+00E9) is not
  // in the vocabulary; ...", and says if the vocabulary has it in another Unicode form.
  std::int64_t id(std::uint32_t value) const {
    const std::int64_t found = find(value);
    if (found < 0) throw_unknown_token(value);
    return found;
  }

  // The id of GPT-2's <|endoftext|>, which separates texts, if the vocabulary has it.
  std::optional<std::int64_t> end_of_text() const;
  // The token from which a text without a prompt is generated: <|endoftext|>, Llama's <s>, the line
  // break or, in a vocabulary without them, token 0.
  std::int64_t first_token() const;

  // The token ids of a text, with WordPiece between [CLS] and [SEP], with SentencePiece after <s>.
  // Throws Error for an unknown token (for a word: "'dor' is not in the vocabulary; ...") and for
  // invalid UTF-8.
  std::vector<std::int64_t> encode(std::string_view text,
                                   SpecialTokens special = SpecialTokens::as_text) const;

  // The text of the token ids, with spaces between words. A piece of WordPiece inside a word keeps
  // its ## only if it comes first, and a piece of SentencePiece after <s> loses a space at its
  // start. Throws Error for an id outside [0, size()).
  std::string decode(const std::vector<std::int64_t>& ids) const;
  std::string decode(std::int64_t id) const { return decode(std::vector{id}); }

  // Vocabularies are equal if they have the same unit and tokens.
  friend bool operator==(const Vocabulary& a, const Vocabulary& b) {
    return a.unit_ == b.unit_ && a.values_ == b.values_ && a.words_ == b.words_ &&
           a.byte_pairs_ == b.byte_pairs_ && a.files_ == b.files_;
  }
  // Vocabularies are unequal if their units or tokens differ.
  friend bool operator!=(const Vocabulary& a, const Vocabulary& b) { return !(a == b); }

 private:
  explicit Vocabulary(Unit unit) : unit_(unit) {}
  void check_id(std::int64_t id) const;
  void find_ascii();
  std::string remedy(std::uint32_t unknown) const;
  [[noreturn]] void throw_unknown_token(std::uint32_t value) const;

  Unit unit_;
  std::vector<std::uint32_t> values_;
  std::vector<std::string> words_;
  std::optional<BytePairs> byte_pairs_;
  std::vector<std::string> files_;
  std::shared_ptr<const ByteLevelBpe> byte_level_bpe_;  // copies of a vocabulary share it
  std::shared_ptr<const WordPiece> word_piece_;
  std::shared_ptr<const SentencePiece> sentence_piece_;
  std::vector<std::int32_t> ids_;  // token id of each code point or byte; -1: not in the vocabulary
};

}  // namespace HEED_NAMESPACE
