// parts.hpp: declarations shared by the source files of heed bench.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heed/app/bench/results.hpp"
#include "heed/app/options.hpp"
#include "heed/base/process.hpp"

namespace heed::app {

using ShowProgress = std::function<void(const std::string&)>;  // shows what is being measured

// The number of untimed steps before this many timed ones.
inline std::int64_t warm_up_steps(std::int64_t steps) { return steps / 5 + 2; }

// The workload as flags, which both heed and the PyTorch script accept.
std::vector<std::string> workload_arguments(const Workload& workload, std::int64_t steps);

// What a program prints. If its exit code is not 0, throws Error with `name` and the last line of
// its standard error.
std::string output_of(const std::string& name, std::vector<std::string> arguments,
                      const EnvironmentChanges& changes);

// Runs `heed bench --only run` as a new process and returns what it measured.
ChildMeasurements run_in_child(const std::string& text, const Workload& workload,
                               std::int64_t steps);

// Measures the parts that the command selects, for heed alone.
BenchResults measure(const BenchCommand& command, const std::string& path, const Corpus& corpus,
                     const ShowProgress& show);

// Runs heed and PyTorch alternately, each time as a new process.
std::vector<Comparison> compare_with_torch(const BenchCommand& command, const std::string& text,
                                           const ShowProgress& show);

}  // namespace heed::app
