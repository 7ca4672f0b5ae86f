// commands.hpp: what each command of the program does; each returns the exit code.
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
