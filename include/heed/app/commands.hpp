// commands.hpp: one function for each command of the heed program; each returns the exit code.
#pragma once

#include "heed/app/options.hpp"

namespace heed::app {

int train(const TrainCommand& command);
int sample(const SampleCommand& command);
int look(const LookCommand& command);
int corpus(const CorpusCommand& command);
int inspect(const InspectCommand& command);
int bench(const BenchCommand& command);

}  // namespace heed::app
