// inspect.hpp: heed inspect and its options.
#pragma once

#include <string>

#include "commands/flags.hpp"

namespace heed::app {

struct InspectCommand : CommandOptions {
  static constexpr const char* name = "inspect";

  std::string file;
};

// Declares the flags of the command: see parsed().
void declare_flags(Flags& flags, InspectCommand& command);

int run(const InspectCommand& command);  // runs the command; returns the exit code

}  // namespace heed::app
