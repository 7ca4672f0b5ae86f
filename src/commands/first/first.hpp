// first.hpp: heed first and its options.
#pragma once

#include <string>

#include "commands/replay/replayed_run.hpp"

namespace heed::app {

struct FirstCommand : CommandOptions {
  static constexpr const char* name = "first";

  ReplayOptions run;
  std::string condition;
  bool every_step = false;  // look at each step, not only at saved states first
};

// Declares the flags of the command: see parsed().
void declare_flags(Flags& flags, FirstCommand& command);

int run(const FirstCommand& command);  // runs the command; returns the exit code

}  // namespace heed::app
