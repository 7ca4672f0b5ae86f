// child_program.hpp: running another program, with an environment of its own, to its end.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace heed::app {

// Variables to set, or to take away.
using EnvironmentChanges = std::map<std::string, std::optional<std::string>>;

struct ChildResult {
  int code = 0;  // 128 + the signal when one ended it; 127 when there is no such program
  std::string out, err;
};

// Waits for the program. It is looked for on the path, gets nothing on its standard input, and ends
// when this one does. Throws Error when it cannot be started.
ChildResult run_child(std::vector<std::string> words, const EnvironmentChanges& changes);

// The same, and what it printed. Throws Error with `who` and the last line the program said when
// its exit code is not 0.
std::string output_of(const std::string& who, const std::vector<std::string>& words,
                      const EnvironmentChanges& changes);

}  // namespace heed::app
