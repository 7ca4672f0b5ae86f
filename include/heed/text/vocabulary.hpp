// vocabulary.hpp: the distinct symbols of a text, and texts as numbers and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

enum class Unit { code_point, byte };  // what one symbol of a text is

// The symbols a model knows, sorted by value; a symbol's id is its place, from 0 to size() - 1.
class Vocabulary {
 public:
  // The distinct symbols of `text`; none of an empty one. Throws Error when the unit is code_point
  // and the text is not UTF-8 (see utf8.hpp).
  static Vocabulary of_text(std::string_view text, Unit unit = Unit::code_point);

  // As a checkpoint stores it. Throws Error unless the symbols rise strictly and each is a code
  // point or, for bytes, at most 255.
  Vocabulary(Unit unit, std::vector<std::uint32_t> symbols);

  std::size_t size() const { return symbols_.size(); }
  Unit unit() const { return unit_; }
  const std::vector<std::uint32_t>& symbols() const { return symbols_; }  // code points or bytes

  // The symbol's id, or -1 when the vocabulary does not have it.
  std::int64_t find(std::uint32_t symbol) const { return symbol < ids_.size() ? ids_[symbol] : -1; }
  // The same, but throws Error "'é' (U+00E9) is not in the vocabulary; ..." or
  // "byte 0xe9 is not in ...".
  std::int64_t id(std::uint32_t symbol) const {
    const std::int64_t found = find(symbol);
    if (found < 0) refuse_symbol(symbol);
    return found;
  }

  std::vector<std::int64_t> encode(
      std::string_view text) const;  // throws as id(), and on bad UTF-8

  // The text of these ids; throws Error when one is not in 0 to size() - 1.
  std::string decode(const std::vector<std::int64_t>& ids) const;
  std::string decode(std::int64_t id) const;

  friend bool operator==(const Vocabulary& a, const Vocabulary& b) {
    return a.unit_ == b.unit_ && a.symbols_ == b.symbols_;
  }
  friend bool operator!=(const Vocabulary& a, const Vocabulary& b) { return !(a == b); }

 private:
  [[noreturn]] void refuse_symbol(std::uint32_t symbol) const;
  void append(std::string& text, std::int64_t id) const;

  Unit unit_;
  std::vector<std::uint32_t> symbols_;
  std::vector<std::int32_t> ids_;  // by symbol value, up to the largest; -1 where there is none
};

}  // namespace heed
