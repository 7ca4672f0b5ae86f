// blame.hpp: heed blame and its options.
#pragma once

#include <optional>
#include <string>

#include "commands/replay/replayed_run.hpp"

namespace heed::app {

struct BlameCommand : CommandOptions {
  static constexpr const char* name = "blame";

  ReplayOptions run;
  std::string element;               // such as head.weight[3,5]
  std::optional<std::int64_t> step;  // the step to explain; default: the one of the largest update
};

// Declares the flags of the command: see parsed().
void declare_flags(Flags& flags, BlameCommand& command);

int run(const BlameCommand& command);  // runs the command; returns the exit code

}  // namespace heed::app
