// process.hpp: running another program, with a folder, an input and an environment of its
// own, to its end.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace heed {

// Variables to set, or to take away.
using EnvironmentChanges = std::map<std::string, std::optional<std::string>>;

struct ChildProgram {
  std::vector<std::string> words;  // the program, looked for on the path, and its arguments
  std::string folder = {};         // where it runs; "" for this one
  std::string input = {};          // what it gets on its standard input
  EnvironmentChanges environment = {};
};

struct ChildResult {
  int code = 0;  // 128 + the signal when one ended it; 127 when there is no such program
  std::string out, err;

  std::string last_error() const;  // the last line of err, which says what went wrong
};

// Waits for the program, which ends when this one does; there is no shell. Throws Error when it
// cannot be started.
ChildResult run_child(ChildProgram program);

}  // namespace heed
