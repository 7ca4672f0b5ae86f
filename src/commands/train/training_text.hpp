// training_text.hpp: TrainingText, the text of a training run with its vocabulary and its corpus.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/files/model_file.hpp"
#include "heed/text/corpus.hpp"

namespace heed::app {

// The text that a run is trained on. Call read(), identify() and encode() in this order. Their
// errors begin with the path or the name of the text.
struct TrainingText {
  std::string path;                   // path of the text; "-": standard input
  std::string content = {};           // the text, between read() and encode()
  TextFingerprint fingerprint = {};   // set by identify()
  bool had_byte_order_mark = false;   // whether identify() removed one
  std::optional<Corpus> corpus = {};  // set by encode()
  std::optional<Vocabulary> vocabulary = {};

  std::string name() const;  // the text's name in messages, which may be printed
  // Sets the content. Throws the errors of read_text(), and Error if the text does not fit into
  // memory. (Its tokens take more.)
  void read();
  // Removes a byte order mark. Throws Error, which ends with `advice`, if the text is empty.
  void identify(const std::string& advice);
  // A vocabulary of the text. `vocab_size` is the number of tokens of byte pairs, which are learned
  // from the training data only. Throws the errors of Vocabulary::of_text().
  Vocabulary learned_vocabulary(Unit tokenizer, std::size_t vocab_size) const;
  // Sets the vocabulary and the corpus. Throws Error if the vocabulary lacks a token of the text.
  void encode(const Vocabulary& known);
  // Throws Error unless both parts of the corpus are longer than block_size.
  void check_length(std::size_t block_size) const;

  // A sign that the text has another encoding than it seems, and what the user can do.
  struct Problem {
    std::string what, remedy;  // "NAME has WHAT; REMEDY"
  };
  // Line ends of CR alone, zero bytes, and characters U+FFFD; none if the tokens are bytes.
  std::vector<Problem> encoding_problems() const;
  // Prints a note, with the command that solves it, for each property of the text that may not be
  // what the user meant: line ends with CR, another encoding, characters that only the validation
  // data has, a vocabulary of one character or of very many.
  void note_problems() const;
  // Prints a note if byte-pair encoding gave fewer tokens than requested.
  void note_small_vocabulary(std::size_t vocab_size) const;
};

}  // namespace heed::app
