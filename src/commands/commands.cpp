// commands.cpp: the list of heed's commands, and the help that heed prints without one.

#include "commands/commands.hpp"

#include <algorithm>

namespace heed::app {

const std::vector<CommandName> all_commands = {
    {"train", "train a small GPT on a text"},
    {"sample", "generate text with a trained model"},
    {"replay", "compute a step of a training run again, bit for bit"},
    {"first", "find the first step of a training run at which a condition holds"},
    {"look", "show attention weights, head scores and head ablation"},
    {"corpus", "write a text of known entropy"},
    {"inspect", "list the tensors and metadata of a safetensors file"},
    {"import", "make a run of a model of Hugging Face's or nanoGPT's"},
    {"export", "write a run's model for nanoGPT, GPT-2 or PyTorch"},
    {"book", "run the lessons and write them as pages"},
    {"bench", "measure training speed on this machine, by operation"}};

const CommandName* find_command(const std::string& name) {
  const auto found = std::find_if(all_commands.begin(), all_commands.end(),
                                  [&](const CommandName& command) { return command.name == name; });
  return found == all_commands.end() ? nullptr : &*found;
}

ShowText read_without_command(const Arguments& arguments) {
  std::vector<std::string> names;
  std::string help = help_start("heed: learn attention by running, reading and debugging code",
                                "heed [OPTIONS] [SUBCOMMAND]") +
                     help_line("--version", "Display program version information and exit") +
                     "\nSubcommands:\n";
  for (const CommandName& command : all_commands) {
    help += help_line(command.name, command.about);
    names.push_back(command.name);
  }
  for (const std::string& argument : arguments) {
    if (argument == "--help" || argument == "-h") return {help + "\n"};
    if (argument == "--version") return {std::string(version) + "\n"};
    if (argument.rfind("--version=", 0) == 0)
      throw UsageError("--version takes no value; see --help");
  }
  const std::string unknown =
      arguments.empty() ? "no command" : "unknown command '" + abbreviated(arguments[0]) + "'";
  throw UsageError(unknown + "; use " + listed(names, "or") + ", or see --help");
}

}  // namespace heed::app
