// commands.cpp: the list of heed's commands, and the help that heed prints without one.

#include "commands/commands.hpp"

#include <algorithm>

#include "commands/help.hpp"
#include "commands/similar.hpp"

namespace heed::app {

const std::vector<CommandName> all_commands = {
    {"train", "train a small GPT on a text"},
    {"sample", "generate text with a trained model"},
    {"replay", "compute a step of a training run again, bit for bit"},
    {"first", "find the first step at which a condition holds"},
    {"blame", "find the steps and the text that changed a weight"},
    {"doctor", "say what is likely wrong with a training run"},
    {"compare", "show several training runs in one plot and table"},
    {"sweep", "train with several options and seeds side by side"},
    {"look", "show attention weights, scores and ablation of heads"},
    {"corpus", "write a text of known entropy"},
    {"inspect", "list the tensors and metadata of a safetensors file"},
    {"import", "make a run of a GPT-2, BERT, Llama or nanoGPT model"},
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
  std::string help = help_start("heed", "learn attention by running, reading and debugging code",
                                "heed COMMAND [OPTIONS]") +
                     help_title("Commands");
  for (const CommandName& command : all_commands) {
    help += help_line(command.name, command.about);
    names.push_back(command.name);
  }
  help += help_title("Options") + help_line("--version", "print the version") +
          help_line("-h, --help", "print this help; after a command, its help");
  for (const std::string& argument : arguments) {
    if (argument == "--help" || argument == "-h") return {help};
    if (argument == "--version") return {std::string(version) + "\n"};
    if (argument.rfind("--version=", 0) == 0)
      throw UsageError("--version takes no value; see --help");
  }
  if (arguments.empty()) throw UsageError("no command; see --help");
  const std::string similar = nearest(arguments[0], names);
  throw UsageError("unknown command '" + abbreviated(arguments[0]) + "'; " +
                   (similar.empty() ? "see --help" : "did you mean '" + similar + "'?"));
}

}  // namespace heed::app
