// compare.hpp: heed compare and its options.
#pragma once

#include <string>
#include <vector>

#include "commands/flags.hpp"

namespace heed::app {

struct CompareCommand : CommandOptions {
  static constexpr const char* name = "compare";

  std::vector<std::string> runs;  // the folders of the runs
  std::string by = "step";        // the x axis: step, tokens or seconds
  std::string out = "runs";       // folder of compare.svg, compare.csv and compare.gp
  std::string page;               // the HTML file to write; "" means none
};

// Declares the flags of the command: see parsed().
void declare_flags(Flags& flags, CompareCommand& command);

// Runs the command; returns the exit code.
int run(const CompareCommand& command);

}  // namespace heed::app
