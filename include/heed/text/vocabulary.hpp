// vocabulary.hpp: the distinct symbols of a text, and texts as numbers and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

enum class Unit { code_point, byte, word };  // what one symbol of a text is

// The symbols a model knows, sorted by value (words by their bytes); a symbol's id is its place,
// from 0 to size() - 1.
class Vocabulary {
 public:
  // The distinct symbols of `text`; none of an empty one. Words are what stands between white space
  // (blank, tab, line end). Throws Error when the text is not UTF-8 (see utf8.hpp), unless the unit
  // is byte.
  static Vocabulary of_text(std::string_view text, Unit unit = Unit::code_point);
  static Vocabulary from_words(std::string_view text) { return of_text(text, Unit::word); }

  // As a checkpoint stores it. Throws Error unless the symbols rise strictly and each is a code
  // point or, for bytes, at most 255.
  Vocabulary(Unit unit, std::vector<std::uint32_t> symbols);
  // The same of words. Throws Error unless they rise strictly, none is empty or has white space,
  // and all are UTF-8.
  explicit Vocabulary(std::vector<std::string> words);

  std::size_t size() const { return unit_ == Unit::word ? words_.size() : symbols_.size(); }
  Unit unit() const { return unit_; }
  const std::vector<std::uint32_t>& symbols() const { return symbols_; }  // code points or bytes
  const std::vector<std::string>& words() const { return words_; }

  // The symbol's id, or -1 when the vocabulary does not have it.
  std::int64_t find(std::uint32_t symbol) const { return symbol < ids_.size() ? ids_[symbol] : -1; }
  std::int64_t find(std::string_view word) const;
  // The same, but throws Error "'é' (U+00E9) is not in the vocabulary; ..." or
  // "byte 0xe9 is not in ...".
  std::int64_t id(std::uint32_t symbol) const {
    const std::int64_t found = find(symbol);
    if (found < 0) throw_unknown_token(symbol);
    return found;
  }

  // Throws as id(), with words "'dor' is not in the vocabulary; ...", and on bad UTF-8.
  std::vector<std::int64_t> encode(std::string_view text) const;

  // The text of these ids, words with a blank between them; throws Error when one is not in 0 to
  // size() - 1.
  std::string decode(const std::vector<std::int64_t>& ids) const;
  std::string decode(std::int64_t id) const;

  friend bool operator==(const Vocabulary& a, const Vocabulary& b) {
    return a.unit_ == b.unit_ && a.symbols_ == b.symbols_ && a.words_ == b.words_;
  }
  friend bool operator!=(const Vocabulary& a, const Vocabulary& b) { return !(a == b); }

 private:
  [[noreturn]] void throw_unknown_token(std::uint32_t symbol) const;
  void append(std::string& text, std::int64_t id) const;

  Unit unit_;
  std::vector<std::uint32_t> symbols_;
  std::vector<std::string> words_;
  std::vector<std::int32_t> ids_;  // by symbol value, up to the largest; -1 where there is none
};

}  // namespace heed
