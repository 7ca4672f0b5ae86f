// corpus.cpp: heed corpus: a text whose entropy is known exactly, and what it is.

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string>

#include "heed/app/commands.hpp"
#include "heed/app/terminal.hpp"
#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/study/markov_source.hpp"

namespace heed::app {
namespace {

// Draws the text piece by piece, so that it takes no memory; write(piece) says whether to go on.
template <class Write>
void write_text(const MarkovSource& source, const CorpusCommand& command, const Write& write) {
  constexpr std::size_t piece = std::size_t{1} << 20;
  Generator generator(command.seed);
  std::size_t state = 0;
  for (std::size_t left = command.size; left > 0;) {
    const std::size_t some = std::min(piece, left);
    if (!write(source.draw(some, generator, state))) return;
    left -= some;
  }
}

void write_file(const MarkovSource& source, const CorpusCommand& command) {
  std::error_code unknown;  // opening it will say
  if (std::filesystem::is_regular_file(command.file, unknown))
    throw_error(command.file, ": exists already; give another name, or remove it first");
  if (std::filesystem::exists(command.file, unknown))
    throw_error(command.file, ": is there, and no regular file; give another name");
  remove_stale_temporaries(command.file);
  AtomicFile file(command.file);
  write_text(source, command, [&](const std::string& piece) {
    file.write(piece.data(), piece.size());
    return true;
  });
  file.commit();
}

void write_to_standard_output(const MarkovSource& source, const CorpusCommand& command) {
  write_text(source, command, [](const std::string& piece) {
    return static_cast<bool>(std::cout << piece << std::flush);
  });
  if (!std::cout) throw_error("standard output: cannot be written; is the disk full?");
  if (stdout_is_terminal() && stderr_is_terminal()) std::cerr << '\n';  // after half a line
}

void say(std::ostream& out, const std::string& what, const std::string& text) {
  out << pad_right(what, 9) << text << '\n';
}

void say_floors(std::ostream& out, const MarkovSource& source) {
  const std::size_t window = nn::GptConfig().block_size;
  const auto floor = [&](const char* name, double nats, const std::string& who) {
    say(out, name, decimal(nats, 4) + "  " + who);
  };
  say(out, "floors", "nats per character, the least that guessing the next one costs on average");
  floor("unigram", source.unigram(), "without looking back");
  floor("bigram", source.bigram(), "looking at the one before");
  floor("true", source.entropy(), "looking at all before; a model below it sees what it guesses");
  floor("window", source.window_entropy(window),
        "looking back within " + std::to_string(window) + ": the least val loss of heed train");
}

}  // namespace

int corpus(const CorpusCommand& command) {
  const MarkovSource source = built_in_source(command.kind);
  const bool to_file = !command.file.empty() && command.file != "-";
  if (to_file)
    write_file(source, command);
  else
    write_to_standard_output(source, command);
  std::ostream& out = to_file ? std::cout : std::cerr;
  say(out, "text",
      (to_file ? printable(command.file) : "standard output") + ": " +
          grouped(static_cast<double>(command.size)) + " characters of a " + command.kind + ", " +
          std::to_string(source.letters().size()) + " distinct");
  say_floors(out, source);
  say(out, "next",
      "./heed train " + (to_file ? shell_word(command.file) : "-, which reads a pipe"));
  return 0;
}

}  // namespace heed::app
