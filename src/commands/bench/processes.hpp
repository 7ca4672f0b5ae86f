// processes.hpp: heed bench --processes, which times training steps in several processes.
#pragma once

#include <functional>

#include "commands/bench/bench.hpp"

namespace heed::app {

// Times training steps in 1, 2 and 4 processes of one thread each, with and without overlap and
// ZeRO, in turn, and prints a table and the predictions of a cost model. If `peer_ms` is given,
// compares two processes with the milliseconds per step of another program, which it measures.
void bench_processes(const BenchCommand& command, const Corpus& corpus, LiveLine& line,
                     const std::function<double(std::int64_t steps)>& peer_ms);

// Measures PyTorch's DistributedDataParallel in two processes with the script --compare.
double ddp_ms(const BenchCommand& command, const std::string& text, std::int64_t steps);

}  // namespace heed::app
