// training_text.cpp: loads the text of a training run, and prints notes about likely mistakes.

#include "commands/train/training_text.hpp"

#include <filesystem>
#include <string_view>

#include "base/machine.hpp"
#include "commands/run_folder.hpp"
#include "commands/terminal.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"

namespace heed::app {
namespace {

// The encoding of a text with many zero bytes, which are bytes of ASCII characters in UTF-16 and
// UTF-32; "" for a text with few zero bytes, or if they are not such bytes. `zeros` counts those at
// each offset in groups of four.
std::string encoding_of(const std::size_t (&zeros)[4], std::size_t bytes) {
  const std::size_t even = zeros[0] + zeros[2], odd = zeros[1] + zeros[3];
  if (even + odd > bytes / 2)
    return zeros[3] > 9 * zeros[0] ? "UTF-32LE" : zeros[0] > 9 * zeros[3] ? "UTF-32BE" : "";
  if (even + odd < bytes / 20) return "";
  return odd > 9 * even ? "UTF-16LE" : even > 9 * odd ? "UTF-16BE" : "";
}

using Problems = std::vector<TrainingText::Problem>;

void add_zero_bytes(std::string_view text, Problems& problems) {
  std::size_t zeros[4] = {};
  for (std::size_t i = text.find('\0'); i != text.npos; i = text.find('\0', i + 1)) ++zeros[i % 4];
  const std::size_t count = zeros[0] + zeros[1] + zeros[2] + zeros[3];
  if (count == 0) return;
  if (count == text.size()) return problems.push_back({"only zero bytes", "give a text"});
  const std::string encoding = encoding_of(zeros, text.size()), found = counted(count, "zero byte");
  if (encoding.empty())
    problems.push_back(
        {found + ", which the model will learn as characters", "tr -d '\\0' removes them"});
  else
    problems.push_back({found + ", as a text in " + encoding + " has",
                        "iconv -f " + encoding + " -t UTF-8 converts it"});
}

// Adds a problem for characters U+FFFD, which a conversion writes for bytes that it cannot read.
void add_replacement_characters(std::string_view text, Problems& problems) {
  constexpr std::string_view character = "\xef\xbf\xbd";
  std::size_t count = 0;
  for (std::size_t i = 0; (i = text.find(character, i)) != text.npos; i += 3) ++count;
  if (count > 0)
    problems.push_back(
        {counted(count, "character") + " U+FFFD, as a conversion writes for what it cannot read",
         "convert the original again, such as with iconv -f WINDOWS-1252 -t UTF-8"});
}

bool has_lone_cr(std::string_view text) {
  for (std::size_t i = 0; (i = text.find('\r', i)) != text.npos; ++i)
    if (text.substr(i + 1, 1) != "\n") return true;
  return false;
}

// Prints a note about characters that only the validation data has.
void note_unseen_characters(const Corpus& corpus, Unit unit, const std::string& name) {
  const std::string_view training = corpus.training_text();
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

std::string TrainingText::name() const {
  return path == "-" ? "standard input" : path == default_text() ? "harbour.txt" : printable(path);
}

void TrainingText::read() {
  std::error_code other;  // read_text() rejects the file, or it is standard input
  const auto bytes = std::filesystem::file_size(path, other);
  if (!other && bytes > usable_memory())
    throw_error(path, ": has ", grouped(static_cast<double>(bytes)), " bytes, but only ",
                grouped(static_cast<double>(usable_memory())),
                " bytes of memory are available; give a smaller text");
  content = read_text(path);
}

void TrainingText::identify(const std::string& advice) {
  had_byte_order_mark = has_byte_order_mark(content);
  if (had_byte_order_mark) content.erase(0, 3);
  if (content.empty()) throw_error(name(), ": is empty; ", advice);
  fingerprint = fingerprint_of(path == default_text() ? "" : path, content);
}

Vocabulary TrainingText::learned_vocabulary(Unit tokenizer, std::size_t vocab_size) const {
  const std::string_view text = content;
  try {
    if (tokenizer != Unit::byte_pair) return Vocabulary::of_text(text, tokenizer);
    // Byte pairs are learned from the training data only.
    return Vocabulary(BytePairs::trained_on(text.substr(0, training_bytes(text)), vocab_size));
  } catch (const Error& error) {
    throw_error(name(), ": ", error.what());
  }
}

void TrainingText::encode(const Vocabulary& known) {
  vocabulary = known;
  try {
    corpus.emplace(std::move(content), known);
  } catch (const Error& error) {
    throw_error(name(), ": ", error.what());
  }
}

void TrainingText::check_length(std::size_t block_size) const {
  const std::size_t n = corpus->size(), validation_size = corpus->validation().size;
  if (validation_size > block_size && corpus->training().size > block_size) return;
  const Unit token = vocabulary->unit();
  const bool is_character = token == Unit::code_point || token == Unit::byte;
  const std::string unit = is_character ? " character" : " token";
  throw_error(name(), ": ", n, unit, n == 1 ? " leaves " : "s leave ", validation_size,
              " for validation, which must be more than --block-size ", block_size,
              "; give a longer text or a smaller --block-size");
}

std::vector<TrainingText::Problem> TrainingText::encoding_problems() const {
  Problems problems;
  if (vocabulary->unit() == Unit::byte) return problems;
  const std::string_view text = corpus->text();
  if (has_lone_cr(text))
    problems.push_back({"line ends of CR alone: the model will not learn line breaks",
                        "tr '\\r' '\\n' makes them"});
  add_zero_bytes(text, problems);
  add_replacement_characters(text, problems);
  return problems;
}

void TrainingText::note_problems() const {
  const std::string_view text = corpus->text();
  const Unit unit = vocabulary->unit();
  if (has_crlf(text))
    note(name() + " has CRLF line ends: the model will learn them as two characters; tr -d '\\r' " +
         "removes the CR");
  for (const Problem& problem : encoding_problems())
    note(name() + " has " + problem.what + "; " + problem.remedy);
  if (unit == Unit::code_point || unit == Unit::byte) note_unseen_characters(*corpus, unit, name());
  if (vocabulary->size() == 1)
    note(name() + " has one distinct character: the model can only learn to repeat it");
  if (vocabulary->size() > 2000 && unit == Unit::code_point)
    note(name() + " has a vocabulary of " + std::to_string(vocabulary->size()) +
         " characters: steps are slow; with --bytes it has 256 at most");
}

void TrainingText::note_small_vocabulary(std::size_t vocab_size) const {
  if (vocabulary->unit() == Unit::byte_pair && vocabulary->size() < vocab_size)
    note(name() + " gives a vocabulary of " + std::to_string(vocabulary->size()) + " tokens, not " +
         std::to_string(vocab_size) +
         ": in its first nine tenths, no other pair of tokens with at most 128 bytes occurs twice "
         "within runs of letters, digits or other characters");
}

}  // namespace heed::app
