// text_notes.cpp: notes about a training text that may not be what the user meant.

#include "commands/train/text_notes.hpp"

#include <string_view>

#include "commands/terminal.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"

namespace heed::app {
namespace {

// The encoding of a text with many zero bytes, which are bytes of ASCII characters in UTF-16 and
// UTF-32; "" for a text with few zero bytes. `zeros` counts those at each offset in groups of four.
std::string encoding_of(const std::size_t (&zeros)[4], std::size_t bytes) {
  const std::size_t even = zeros[0] + zeros[2], odd = zeros[1] + zeros[3];
  if (even + odd > bytes / 2) return zeros[3] > zeros[0] ? "UTF-32LE" : "UTF-32BE";
  if (even + odd < bytes / 20) return "";
  return odd > 9 * even ? "UTF-16LE" : even > 9 * odd ? "UTF-16BE" : "";
}

void note_zero_bytes(std::string_view text, const std::string& name) {
  std::size_t zeros[4] = {};
  for (std::size_t i = text.find('\0'); i != text.npos; i = text.find('\0', i + 1)) ++zeros[i % 4];
  const std::size_t count = zeros[0] + zeros[1] + zeros[2] + zeros[3];
  if (count == 0) return;
  const std::string encoding = encoding_of(zeros, text.size());
  note(name + " has " + counted(count, "zero byte") +
       (encoding.empty() ? ", which the model will learn as characters; tr -d '\\0' removes them"
                         : ", as a text in " + encoding + " has; iconv -f " + encoding +
                               " -t UTF-8 converts it"));
}

// Notes the characters U+FFFD, which a conversion writes for bytes that it cannot read.
void note_replacement_characters(std::string_view text, const std::string& name) {
  constexpr std::string_view character = "\xef\xbf\xbd";
  std::size_t count = 0;
  for (std::size_t i = 0; (i = text.find(character, i)) != text.npos; i += 3) ++count;
  if (count > 0)
    note(name + " has " + counted(count, "character") +
         " U+FFFD, as a conversion writes for what it cannot read; convert the original again, "
         "such as with iconv -f WINDOWS-1252 -t UTF-8");
}

bool has_lone_cr(std::string_view text) {
  for (std::size_t i = 0; (i = text.find('\r', i)) != text.npos; ++i)
    if (text.substr(i + 1, 1) != "\n") return true;
  return false;
}

// Notes the characters that only the validation data has.
void note_unseen_characters(const Corpus& corpus, const Vocabulary& vocabulary,
                            const std::string& name) {
  const std::string_view training = corpus.training_text();
  const Unit unit = vocabulary.unit();
  const Vocabulary seen = Vocabulary::of_text(training, unit),
                   validated = Vocabulary::of_text(corpus.text().substr(training.size()), unit);
  std::size_t count = 0;
  std::string first;
  for (std::size_t i = 0; i < validated.size(); ++i) {
    if (seen.find(validated.characters()[i]) >= 0) continue;
    if (++count == 1) first = in_quotes(validated.decode(static_cast<std::int64_t>(i)));
  }
  if (count > 0)
    note(name + " has " + first +
         (count == 1 ? "" : " and " + counted(count - 1, "other character")) +
         " only in its last tenth, the validation data: the model cannot learn " +
         (count == 1 ? "it" : "them"));
}

}  // namespace

void note_text_problems(const Corpus& corpus, const Vocabulary& vocabulary,
                        const std::string& name) {
  const std::string_view text = corpus.text();
  const Unit unit = vocabulary.unit();
  if (has_crlf(text))
    note(name + " has CRLF line ends: the model will learn them as two characters; tr -d '\\r' " +
         "removes the CR");
  if (unit != Unit::byte) {
    if (has_lone_cr(text))
      note(name + " has line ends of CR alone: the model will not learn line breaks; " +
           "tr '\\r' '\\n' makes them");
    note_zero_bytes(text, name);
    note_replacement_characters(text, name);
  }
  if (unit == Unit::code_point || unit == Unit::byte)
    note_unseen_characters(corpus, vocabulary, name);
  if (vocabulary.size() == 1)
    note(name + " has one distinct character: the model can only learn to repeat it");
  if (vocabulary.size() > 2000 && unit == Unit::code_point)
    note(name + " has a vocabulary of " + std::to_string(vocabulary.size()) +
         " characters: steps are slow; with --bytes it has 256 at most");
}

}  // namespace heed::app
