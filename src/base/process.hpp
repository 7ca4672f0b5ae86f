// process.hpp: run_child runs another program and captures its output and exit code.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace heed {

// Environment variables to set or, where the value is nullopt, to remove.
using EnvironmentChanges = std::map<std::string, std::optional<std::string>>;

// A program to run, with its arguments, input and environment.
struct ChildProgram {
  std::vector<std::string> words;       // the program (see run_child) and its arguments
  std::string folder = {};              // the working directory; "" means the current directory
  std::string input = {};               // the program's standard input
  EnvironmentChanges environment = {};  // changes compared with this process's environment
  // Called every 20 ms; once it returns a signal, the program gets SIGTERM. Null: not called.
  int (*stop_signal)() = nullptr;
};

// The exit code and the output of a program that has ended.
struct ChildResult {
  int code = 0;          // the exit code; 128 + N after signal N; 127 if the program does not exist
  std::string out, err;  // the program's standard output and standard error

  std::string last_error() const;  // the last nonempty line of `err`
};

// Runs the program without a shell and waits until it ends. A program without a slash in its name
// is searched in PATH before the working directory changes, so that a relative entry of PATH never
// finds a program in `folder`. On Linux, the program is killed if the
// calling thread ends first. Throws Error if no new process can be created.
ChildResult run_child(ChildProgram program);

}  // namespace heed
