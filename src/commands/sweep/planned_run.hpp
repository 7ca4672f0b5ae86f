// planned_run.hpp: PlannedRun, one training run of a sweep.
#pragma once

#include <string>
#include <vector>

#include "commands/run_folder.hpp"
#include "commands/sweep/sweep.hpp"

namespace heed::app {

// A run of a sweep, and how far it has come.
struct PlannedRun {
  enum class State { none, begun, finished, diverged };

  std::string name;   // of its settings: lr-0.001-seed-1337
  RunFolder folder;   // the folder `name` in that of the sweep
  Arguments options;  // of heed train, without --out, --threads and the text
  State state;        // of the files in the folder

  // The command that starts or continues the run on one thread: {"train", ...}.
  Arguments training(const std::string& text) const;
};

// A run for each combination of the values in the lists and each seed. Throws UsageError, as heed
// train does, for options that it would reject, and Error if the text cannot be read or if a folder
// has a run of another text or other options.
std::vector<PlannedRun> planned_runs(const SweepCommand& command, const std::string& folder);

}  // namespace heed::app
