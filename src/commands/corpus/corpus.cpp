// corpus.cpp: heed corpus samples a text from a Markov source and prints the source's entropies.

#include "commands/corpus/corpus.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <string>

#include "commands/common_flags.hpp"
#include "commands/program.hpp"
#include "commands/terminal.hpp"
#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/study/markov_source.hpp"

namespace heed::app {
namespace {

// Generates the text in pieces, because a large text may not fit in memory. Stops if write()
// returns false.
void write_text(const MarkovSource& source, const CorpusCommand& command,
                const std::function<bool(const std::string&)>& write) {
  constexpr std::size_t max_piece = std::size_t{1} << 20;
  Generator generator(command.seed);
  std::size_t state = 0, left = command.size;
  while (left > 0) {
    const std::size_t size = std::min(max_piece, left);
    if (!write(source.draw(size, generator, state))) return;
    left -= size;
  }
}

void write_file(const MarkovSource& source, const CorpusCommand& command) {
  std::error_code ignored;  // ignored here: opening the file reports the error
  if (std::filesystem::is_regular_file(command.file, ignored))
    throw_error(command.file, ": exists already; give another name, or remove it first");
  if (std::filesystem::exists(command.file, ignored))
    throw_error(command.file, ": exists and is not a regular file; give another name");
  AtomicFile file(command.file);
  write_text(source, command, [&](const std::string& piece) {
    file.write(piece.data(), piece.size());
    return true;
  });
  file.commit_new();  // another program may have made a file of this name by now
}

void write_to_standard_output(const MarkovSource& source, const CorpusCommand& command) {
  write_text(source, command, [](const std::string& piece) {
    return static_cast<bool>(std::cout << piece << std::flush);
  });
  check_output();
  if (stdout_is_terminal() && stderr_is_terminal())
    std::cerr << '\n';  // ends the text's last line, which may have no line break
}

}  // namespace

void declare_flags(Flags& flags, CorpusCommand& c) {
  flags.positional("FILE", c.file, "the file to write [standard output]");
  flags.choice("--kind", "the Markov source", {"grammar", "chain"}, c.kind);
  flags.integer("--size", c.size, {1, max_size}, "number of characters");
  flags.integer("--seed", c.seed, seeds, "seed of the text");
  flags.example("./heed corpus grammar.txt");
  flags.example("./heed corpus chain.txt --kind chain --size 1000000");
}

int run(const CorpusCommand& command) {
  const MarkovSource source = built_in_source(command.kind);
  const bool to_file = !command.file.empty() && command.file != "-";
  if (to_file)
    write_file(source, command);
  else
    write_to_standard_output(source, command);
  const auto print_row = [&](const char* name, const std::string& text) {
    (to_file ? std::cout : std::cerr) << pad_right(name, 9) << text << '\n';
  };
  const std::string count = grouped(static_cast<double>(command.size));
  print_row("text", (to_file ? printable(command.file) : "standard output") + ": " + count +
                        " characters of a " + command.kind + ", " +
                        std::to_string(source.letters().size()) + " distinct");
  print_row("entropy", "nats per character, lower bounds on the loss");
  const auto print_entropy = [&](const char* name, double nats, const std::string& meaning) {
    print_row(name, decimal(nats, 4) + "  " + meaning);
  };
  print_entropy("unigram", source.unigram_entropy(), "given no previous characters");
  print_entropy("bigram", source.bigram_entropy(), "given the previous character");
  print_entropy(
      "rate", source.entropy_rate(),
      "given all previous characters; only a model that sees its targets has a lower loss");
  const std::size_t window = nn::GptConfig().block_size;
  print_entropy("window", source.window_entropy(window),
                "given the earlier characters of a window of " + std::to_string(window) +
                    ": the lower bound for heed train");
  print_row("next",
            "./heed train " + (to_file ? shell_path(command.file) : "-, which reads a pipe"));
  return 0;
}

}  // namespace heed::app
