// doctor.hpp: heed doctor and its options.
#pragma once

#include <string>

#include "commands/flags.hpp"

namespace heed::app {

struct DoctorCommand : CommandOptions {
  static constexpr const char* name = "doctor";

  std::string run;
  std::string text;    // file of the training text; "" means that of the run
  bool trust = false;  // load the checkpoint even if it has no checksum
};

// Declares the flags of the command: see parsed().
void declare_flags(Flags& flags, DoctorCommand& command);

int run(const DoctorCommand& command);  // runs the command; returns the exit code

}  // namespace heed::app
