// sweep.hpp: heed sweep and its options.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "commands/flags.hpp"

namespace heed::app {

struct SweepCommand : CommandOptions {
  static constexpr const char* name = "sweep";
  static constexpr bool ignores_stdout_errors = true;

  std::string text;  // file of the training text; "" means default_text()
  std::string out;   // the folder of the runs; "" means runs/NAME-sweep
  std::string page;  // the HTML file of the comparison; "" means none
  // The values of each flag of heed train, such as {"--lr", {"1e-3", "1e-4"}}; absent: the default.
  std::map<std::string, std::string> lists;
  std::uint64_t seed = 1337;  // the first seed
  std::size_t seeds = 1;      // the number of seeds
  std::size_t parallel;       // the number of runs side by side
  bool fit = false;           // fit a power law over the sizes

  SweepCommand();
};

// Declares the flags of the command, and checks their combination: see parsed().
void declare_flags(Flags& flags, SweepCommand& command);
void check_flags(const SweepCommand& command, const std::set<std::string>& given);

// Runs the command; returns the exit code.
int run(const SweepCommand& command);

}  // namespace heed::app
