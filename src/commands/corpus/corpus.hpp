// corpus.hpp: heed corpus and its options.
#pragma once

#include <cstdint>
#include <string>

#include "commands/flags.hpp"

namespace heed::app {

struct CorpusCommand : CommandOptions {
  static constexpr const char* name = "corpus";

  std::string file;  // the output file; "" or "-" means standard output
  std::size_t size = 100'000;
  std::string kind = "grammar";
  std::uint64_t seed = 1337;
};

// Declares the flags of the command: see parsed().
void declare_flags(Flags& flags, CorpusCommand& command);

int run(const CorpusCommand& command);  // runs the command; returns the exit code

}  // namespace heed::app
