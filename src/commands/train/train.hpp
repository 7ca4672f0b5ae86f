// train.hpp: heed train, which trains a model on a text or resumes a run.
#pragma once

#include "commands/train/options.hpp"
#include "heed/parallel/communicator.hpp"

namespace heed::app {

int run(const TrainCommand& command);  // runs the command; returns the exit code
// Runs heed train as one rank of several processes; run() calls it in each process that it forks.
int train(const TrainCommand& command, Communicator& communicator);

}  // namespace heed::app
