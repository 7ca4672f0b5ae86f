// parts.hpp: what the parts of heed bench share.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heed/app/bench/results.hpp"
#include "heed/app/options.hpp"
#include "heed/base/process.hpp"

namespace heed::app {

using Show = std::function<void(const std::string&)>;  // says what is being measured

// Steps that are not counted before so many that are.
inline std::int64_t warm_up_steps(std::int64_t steps) { return steps / 5 + 2; }

// The model, the batch and the threads as options, which heed and PyTorch's script have in common.
std::vector<std::string> workload_words(const Workload& workload, std::int64_t steps);

// What a program prints. Throws Error with `who` and the last line the program said when its exit
// code is not 0.
std::string output_of(const std::string& who, std::vector<std::string> words,
                      const EnvironmentChanges& changes);

// What this program, started anew, prints of so many steps.
ChildNumbers numbers_of_run(const std::string& text, const Workload& workload, std::int64_t steps);

// What the command asks for, of this program.
BenchResults measure(const BenchCommand& command, const std::string& path, const Corpus& corpus,
                     const Show& show);

// heed and PyTorch in turn, each time as a new program.
std::vector<Comparison> compare_with_torch(const BenchCommand& command, const std::string& text,
                                           const Show& show);

}  // namespace heed::app
