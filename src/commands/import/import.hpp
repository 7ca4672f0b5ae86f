// import.hpp: heed import and its options.
#pragma once

#include <string>

#include "commands/flags.hpp"

namespace heed::app {

struct ImportCommand : CommandOptions {
  static constexpr const char* name = "import";

  std::string folder;     // the folder with config.json and model.safetensors, or a checkpoint
  std::string tokenizer;  // the tokenizer.bin of a checkpoint of llama2.c; "" with a folder
  std::string out;        // the folder of the run; "" means runs/NAME
  bool replace = false;   // replace the run in the folder
};

// Declares the flags of the command: see parsed().
void declare_flags(Flags& flags, ImportCommand& command);

int run(const ImportCommand& command);  // runs the command; returns the exit code

}  // namespace heed::app
