// export.hpp: heed export and its options.
#pragma once

#include <set>
#include <string>

#include "commands/flags.hpp"

namespace heed::app {

struct ExportCommand : CommandOptions {
  static constexpr const char* name = "export";

  std::string run;     // the folder of a run, or a checkpoint file
  std::string folder;  // the folder to write
  bool trust = false;  // load the checkpoint even if it has no checksum
  std::string to;      // nanogpt, gpt2, llama or pytorch
};

// Declares the flags of the command, and checks their combination: see parsed().
void declare_flags(Flags& flags, ExportCommand& command);
void check_flags(const ExportCommand& command, const std::set<std::string>& given);

int run(const ExportCommand& command);  // runs the command; returns the exit code

}  // namespace heed::app
