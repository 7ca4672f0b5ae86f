// corpus.hpp: a text as token ids, split into 90% training and 10% validation data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heed/array/array.hpp"
#include "heed/text/vocabulary.hpp"

namespace HEED_NAMESPACE {

class Corpus;

// A contiguous range of a corpus. The corpus must outlive it.
struct Split {
  const Corpus* corpus;
  std::size_t begin;
  std::size_t size;
  std::string_view name;  // "training" or "validation", for error messages
};

// Stores the text and computes token ids on demand: ids would take 8 times the memory of an ASCII
// text, and encoding a window is fast compared with training on it. If characters differ in size,
// a table of byte offsets takes at most 1/32 of the text's memory.
class Corpus {
 public:
  // Pass the text with std::move to avoid a copy. Throws Error like Vocabulary::encode, and for a
  // vocabulary of words.
  Corpus(std::string text, Vocabulary vocabulary);

  std::string_view text() const { return text_; }
  std::size_t size() const { return size_; }  // in tokens

  // The `count` token ids from position `begin` on; throws Error if they exceed the corpus.
  Indices ids(std::size_t begin, std::size_t count) const;  // (count)
  void copy_ids(std::size_t begin, std::size_t count, std::int64_t* out) const;

  std::size_t train_size() const { return size() / 10 * 9 + size() % 10 * 9 / 10; }  // floor(0.9 n)
  Split training() const& { return {this, 0, train_size(), "training"}; }
  Split validation() const& { return {this, train_size(), size() - train_size(), "validation"}; }
  Split training() && = delete;  // the split would outlive its corpus
  Split validation() && = delete;

 private:
  void index_positions();
  std::size_t byte_offset(std::size_t position) const;

  std::string text_;
  Vocabulary vocabulary_;
  std::size_t size_ = 0;
  std::vector<std::size_t> offsets_;  // of every 256th character; empty if all have one byte
};

}  // namespace HEED_NAMESPACE
