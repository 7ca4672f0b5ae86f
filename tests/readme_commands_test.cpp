// readme_commands_test.cpp: the commands and flags in README.md are those that the programs accept.

#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "commands/child.hpp"
#include "commands/command_line.hpp"
#include "readme.hpp"

namespace {

using namespace heed_test;
using namespace heed::app;

const std::set<std::string> program_commands = {"train",  "sample", "replay", "first",   "blame",
                                                "doctor", "look",   "corpus", "book",    "inspect",
                                                "import", "export", "bench",  "compare", "sweep"};

// The words of a shell command up to a comment; a word in double quotes may contain spaces.
Arguments words_of_command(const std::string& command) {
  Arguments words;
  std::istringstream in(command);
  for (std::string word; in >> std::ws && in.peek() != '#' && in >> word; words.push_back(word)) {
    if (word[0] != '"') continue;
    std::string rest;
    if (word.back() != '"') std::getline(in, rest, '"');
    word = word.substr(1) + rest;
    if (word.back() == '"') word.pop_back();
  }
  return words;
}

// The arguments of heed in each command of the README's blocks for a shell: {"train", "--resume"}.
std::vector<Arguments> commands_of_readme() {
  std::vector<Arguments> commands;
  for (const std::string& block : matches(documentation(), "\n```sh\n([^`]*)\n```"))
    for (const std::string& command :
         matches(block, "(?:\\./heed|build/release/heed) ((?:[^&\n]|&(?!&))*)"))
      commands.push_back(words_of_command(command));
  return commands;
}

std::string help_of_launcher() {
  return run({{"/bin/sh", (project / "heed").string(), "help"}, project}).out;
}

// The help of the launcher, of its commands and of each command of the program.
std::string all_help() {
  std::string help = content(project / "tools/launcher/help.txt");
  for (const std::string& command : program_commands)
    help += std::get<ShowText>(parse_command_line({command, "--help"})).text;
  return help;
}

// The folder of the run that a command writes, "" if it writes none.
std::string written_run(const Command& command) {
  const auto folder = [](const std::string& out, const std::string& name) {
    return out.empty() ? "runs/" + std::filesystem::path(name).stem().string() : out;
  };
  if (const auto* train = std::get_if<TrainCommand>(&command))
    return folder(train->out, train->text.empty() ? "harbour.txt" : train->text);
  if (const auto* import = std::get_if<ImportCommand>(&command))
    return folder(import->out, import->folder);
  return "";
}

// The run that a command reads, "" if it reads none.
std::string read_run(const Command& command) {
  if (const auto* train = std::get_if<TrainCommand>(&command))
    return train->resume || train->replace ? written_run(command) : "";
  if (const auto* sample = std::get_if<SampleCommand>(&command)) return sample->run;
  if (const auto* look = std::get_if<LookCommand>(&command)) return look->run;
  if (const auto* exported = std::get_if<ExportCommand>(&command)) return exported->run;
  return "";
}

}  // namespace

TEST_CASE("every command in the README's blocks for a shell is one that heed accepts", "[readme]") {
  const std::vector<Arguments> commands = commands_of_readme();
  CHECK(commands.size() > 30);
  const std::string help = help_of_launcher();
  for (const Arguments& command : commands) {
    INFO("./heed " << heed::joined(command, " "));
    REQUIRE(!command.empty());
    CHECK(has(help, "\n  ./heed " + command[0] + " "));
    if (program_commands.count(command[0]) == 1) CHECK_NOTHROW(parse_command_line(command));
  }
}

TEST_CASE("every command of ./heed that the README names is in the launcher's help", "[readme]") {
  const std::string help = help_of_launcher();
  const std::vector<std::string> names = matches(documentation(), "\\./heed\\s+([a-z]+)");
  CHECK(names.size() > 80);
  for (const std::string& name : names) {
    INFO(name);
    CHECK(has(help, "\n  ./heed " + name + " "));
  }
}

TEST_CASE("the launcher's help describes each command of the program as the program does",
          "[readme]") {
  const std::string help = help_of_launcher();
  for (const CommandName& command : all_commands) {
    INFO(command.name);
    CHECK(matches(help, "\n  \\./heed " + std::string(command.name) + "(?: [^a-z]+)? +([^\n]*)") ==
          std::vector<std::string>{command.about});
  }
}

TEST_CASE("every flag that the README quotes is in the help of a command", "[readme]") {
  const std::string help = all_help();
  // Flags of mpirun, of a script and of a debugger's command.
  const std::set<std::string> others = {"--oversubscribe", "--bind-to", "--allow-run-as-root",
                                        "--delay", "--svg"};
  std::set<std::string> flags;
  for (const std::string& quoted : matches(documentation(), "`((?:--|\\./heed )[^`]*)`"))
    for (const std::string& flag : matches(" " + quoted, "\\s(--[a-z0-9-]+)"))
      if (others.count(flag) == 0 && flag != "--help") flags.insert(flag);
  CHECK(flags.size() > 40);
  for (const std::string& flag : flags) {
    INFO(flag);
    CHECK(!matches(help, "(" + flag + ")(?![a-z0-9-])").empty());
  }
}

TEST_CASE("the README's commands read runs that an earlier one writes, and replace none unasked",
          "[readme]") {
  std::set<std::string> runs;
  std::set<Arguments> seen;  // a page may repeat the command of another
  for (const Arguments& arguments : commands_of_readme()) {
    if (program_commands.count(arguments[0]) == 0 || !seen.insert(arguments).second) continue;
    INFO("./heed " << heed::joined(arguments, " "));
    const Command command = parse_command_line(arguments);
    const std::string from = read_run(command), to = written_run(command);
    if (!from.empty()) CHECK(runs.count(from) + runs.count("runs/" + from) == 1);
    if (!to.empty()) CHECK(runs.insert(to).second == from.empty());
  }
  CHECK(runs.size() > 10);
}
