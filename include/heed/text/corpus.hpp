// corpus.hpp: a text as token ids, split into 90% training and 10% validation data, and random
// batches of token windows with next-token targets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/array/random.hpp"
#include "heed/text/vocabulary.hpp"

namespace HEED_NAMESPACE {

class Corpus;

// The length in bytes of the training part of a text that is encoded with byte pairs: 90 %, rounded
// down to the beginning of a UTF-8 character. Merges are learned from this part.
std::size_t training_bytes(std::string_view text);

// A contiguous range of a corpus. The corpus must outlive the Split.
struct Split {
  const Corpus* corpus;   // the corpus that contains the range
  std::size_t begin;      // position of the first token in the corpus
  std::size_t size;       // number of tokens
  std::string_view name;  // "training" or "validation", for error messages
};

// Stores a text and computes its token ids on demand: ids would take 8 times the memory of an ASCII
// text, and encoding a window is fast compared with training on it. If some characters take more
// than one byte, Corpus also stores byte offsets, which take at most 1/32 of the text's memory.
// Only with byte-pair encoding, which cannot encode a part of a text alone, does it store all ids.
class Corpus {
 public:
  // Pass the text with std::move to avoid a copy. Throws the same errors as Vocabulary::encode, and
  // Error if the vocabulary is word-level.
  Corpus(std::string text, Vocabulary vocabulary);

  std::string_view text() const { return text_; }  // the whole text
  std::size_t size() const { return size_; }       // number of tokens

  // The `count` token ids from position `begin` on. Throws Error if begin + count exceeds size().
  Indices ids(std::size_t begin, std::size_t count) const;  // (count)
  void copy_ids(std::size_t begin, std::size_t count, std::int64_t* out) const;

  // The number of training tokens: 90 % of size(), rounded down. With byte-pair encoding, the
  // tokens of the first training_bytes(text()): the two parts are encoded separately.
  std::size_t train_size() const { return train_size_; }
  // The first train_size() tokens (training data), and all other tokens (validation data).
  Split training() const& { return {this, 0, train_size(), "training"}; }
  Split validation() const& { return {this, train_size(), size() - train_size(), "validation"}; }
  Split training() && = delete;  // deleted: the Split would outlive its Corpus
  Split validation() && = delete;
  std::string_view training_text() const;  // the part of text() that training() encodes

 private:
  void read_characters();
  std::size_t byte_offset(std::size_t position) const;

  std::string text_;
  Vocabulary vocabulary_;
  std::size_t size_ = 0, train_size_ = 0;
  // The byte offset of every 256th character; empty if every character has one byte.
  std::vector<std::size_t> offsets_;
  std::vector<std::int32_t> ids_;  // all token ids, with byte-pair encoding
};

// A batch of token windows (inputs), and the target of each token.
struct Batch {
  Indices inputs;   // (B, T)
  Indices targets;  // (B, T): targets(b, t) is the token after inputs(b, t)
};

// Returns a batch of B = batch_size windows of T = block_size tokens. The start positions of the
// windows are drawn as by torch.randint(len(part) - T, (B,)) in nanoGPT's get_batch. Throws Error
// if the split has at most T tokens, or if B or T is 0.
Batch random_batch(const Split& part, std::size_t batch_size, std::size_t block_size,
                   Generator& generator);

// A sequence of random batches with its own random generator.
class Batches {
 public:
  // Throws the same errors as random_batch. The corpus must outlive the Batches object.
  Batches(const Split& part, std::size_t batch_size, std::size_t block_size, std::uint64_t seed);

  Batch next() { return random_batch(part_, batch_size_, block_size_, generator_); }  // a new batch

  // Reseeds the generator, so that every evaluation can use the same windows.
  void rewind(std::uint64_t seed) { generator_ = Generator(seed); }

  // The random generator's state. set_state() continues the sequence of batches from this state. It
  // throws Error for an invalid state.
  std::string state() const { return generator_.state(); }
  void set_state(const std::string& state) { generator_.set_state(state); }

 private:
  Split part_;
  std::size_t batch_size_;
  std::size_t block_size_;
  Generator generator_;
};

}  // namespace HEED_NAMESPACE
