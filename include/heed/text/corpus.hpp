// corpus.hpp: a whole text as symbol ids, nine tenths to train on and the rest to validate with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "heed/array/array.hpp"
#include "heed/text/vocabulary.hpp"

namespace heed {

class Corpus;

// A stretch of a corpus, which must outlive it.
struct Part {
  const Corpus* corpus;
  std::size_t begin;
  std::size_t size;
  std::string_view name;  // "training" or "validation", for messages
};

// The ids take one byte a symbol for vocabularies of at most 256, two up to 65,536, else four;
// nothing else of the text's size is held, then or while it is made.
class Corpus {
 public:
  // Throws Error as Vocabulary::encode does.
  Corpus(std::string_view text, const Vocabulary& vocabulary);

  std::size_t size() const;              // symbols
  std::size_t bytes_per_symbol() const;  // 1, 2 or 4

  // (count), the ids from `begin` on; throws Error when they reach past the end.
  Indices ids(std::size_t begin, std::size_t count) const;
  void copy_ids(std::size_t begin, std::size_t count, std::int64_t* out) const;

  std::size_t train_size() const { return size() / 10 * 9 + size() % 10 * 9 / 10; }  // floor(0.9 n)
  Part training() const& { return {this, 0, train_size(), "training"}; }
  Part validation() const& { return {this, train_size(), size() - train_size(), "validation"}; }
  Part training() && = delete;  // the part would outlive its corpus
  Part validation() && = delete;

 private:
  template <class Id>
  using Ids = std::vector<Id>;
  std::variant<Ids<std::uint8_t>, Ids<std::uint16_t>, Ids<std::uint32_t>> ids_;
};

}  // namespace heed
