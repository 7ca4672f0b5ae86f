// commands.hpp: the list of heed's commands, and the help that heed prints without one.
#pragma once

#include <string>
#include <vector>

#include "commands/flags.hpp"

namespace heed::app {

inline constexpr const char* version = "heed " HEED_VERSION;  // printed by `heed --version`

// A command of heed: its name, and its description in --help.
struct CommandName {
  const char *name, *about;
};
extern const std::vector<CommandName> all_commands;

// The command of this name, or null.
const CommandName* find_command(const std::string& name);

// Handles a command line that names no command of heed. Returns the text of --help or --version if
// the arguments contain one of these flags, otherwise throws UsageError.
ShowText read_without_command(const Arguments& arguments);

}  // namespace heed::app
