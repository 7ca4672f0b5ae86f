// corpus.hpp: a whole text as symbol ids, nine tenths to train on and the rest to validate with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heed/array/array.hpp"
#include "heed/text/vocabulary.hpp"

namespace heed {

class Corpus;

// A stretch of a corpus, which must outlive it.
struct Split {
  const Corpus* corpus;
  std::size_t begin;
  std::size_t size;
  std::string_view name;  // "training" or "validation", for messages
};

// The text itself is kept, and ids are looked up when they are asked for: they take 1 to 4 times
// its memory for some text, and looking up a window is nothing beside learning it. Where symbols
// differ in size, the places of some are kept too, in at most 1/32 of the text's memory.
class Corpus {
 public:
  // Give the text with std::move, or it is copied. Throws Error as Vocabulary::encode does,
  // and for a vocabulary of words.
  Corpus(std::string text, Vocabulary vocabulary);

  std::string_view text() const { return text_; }
  std::size_t size() const { return size_; }  // symbols

  // (count), the ids from `begin` on; throws Error when they reach past the end.
  Indices ids(std::size_t begin, std::size_t count) const;
  void copy_ids(std::size_t begin, std::size_t count, std::int64_t* out) const;

  std::size_t train_size() const { return size() / 10 * 9 + size() % 10 * 9 / 10; }  // floor(0.9 n)
  Split training() const& { return {this, 0, train_size(), "training"}; }
  Split validation() const& { return {this, train_size(), size() - train_size(), "validation"}; }
  Split training() && = delete;  // the part would outlive its corpus
  Split validation() && = delete;

 private:
  void find_places();
  std::size_t place_of(std::size_t symbol) const;

  std::string text_;
  Vocabulary vocabulary_;
  std::size_t size_ = 0;
  std::vector<std::size_t> places_;  // of every 256th symbol; empty when all have one byte
};

}  // namespace heed
