// replay.hpp: heed replay and its options.
#pragma once

#include <optional>
#include <string>

#include "commands/replay/replayed_run.hpp"

namespace heed::app {

struct ReplayCommand : CommandOptions {
  static constexpr const char* name = "replay";

  ReplayOptions run;
  std::optional<std::int64_t> to;  // the step to compute; default: the last saved step
  std::string out;                 // folder of a run with the state of that step; "" means none
};

// Declares the flags of the command: see parsed().
void declare_flags(Flags& flags, ReplayCommand& command);

int run(const ReplayCommand& command);  // runs the command; returns the exit code

// Computes the last step of a replay. ./heed debug replay RUN --to STEP stops here.
void compute_last_step(ReplayedRun& run);

}  // namespace heed::app
