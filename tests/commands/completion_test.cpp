// completion_test.cpp: the completion of a command line in bash and zsh.

#include <regex>
#include <set>

#include "commands/command_line.hpp"
#include "commands/machine.hpp"

using namespace heed_test;
using namespace heed::app;

namespace {

using WordSet = std::set<std::string>;

WordSet set_of_lines(const std::string& text) {
  WordSet words;
  for (const std::string& line : heed::lines_of(text))
    if (!line.empty()) words.insert(line);
  return words;
}

// A project whose commands are built: their programs print the help of heed's programs.
struct BuiltMachine : Machine {
  BuiltMachine() {
    const fs::path folder = root / "build/release/commands";
    fs::create_directories(folder);
    for (const CommandName& command : all_commands) {
      put(folder / command.name, "#!/bin/sh\ncat \"$0.txt\"\n");
      put(folder / (std::string(command.name) + ".txt"), help_of_program(command.name));
      fs::permissions(folder / command.name, fs::perms::owner_all);
    }
  }
  static std::string help_of_program(const std::string& command) {
    return std::get<ShowText>(parse_command_line({command, "--help"})).text;
  }
  // What bash offers for the last word behind ./heed.
  WordSet completed(const Arguments& words) const {
    put(path / "complete.bash", R"bash(eval "$(./heed completion bash)"
COMP_WORDS=(./heed "$@") COMP_CWORD=$#
_heed ./heed "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\n' "${COMPREPLY[@]}")bash");
    const Arguments start = {"-c", "exec /bin/bash ../complete.bash \"$@\"", "sh"};
    const Finished finished = sh(start + words, root);
    CHECK(finished.err == "");
    return set_of_lines(finished.out);
  }
};

// The options that a help text describes.
WordSet described_options(const std::string& help) {
  WordSet options;
  const std::regex option("\n  (?:-h, )?(--[a-z0-9-]+)");
  for (std::sregex_iterator at(help.begin(), help.end(), option), end; at != end; ++at)
    options.insert((*at)[1]);
  return options;
}

}  // namespace

TEST_CASE("bash completes every option of every command", "[commands][launcher][completion]") {
  const BuiltMachine machine;
  const WordSet commands = machine.completed({""});
  CHECK(commands.size() == all_commands.size() + 7);
  CHECK(machine.completed({"train", "--"}).size() > 35);
  for (const std::string& command : commands) {
    const std::string help = find_command(command) != nullptr
                                 ? BuiltMachine::help_of_program(command)
                                 : machine.heed({command, "--help"}).out;
    INFO(command);
    CHECK(described_options(help).count("--help") == 1);
    CHECK(machine.completed({command, "a", "--"}) == described_options(help));
  }
}

TEST_CASE("bash completes commands, values, lessons and exercises",
          "[commands][launcher][completion]") {
  const BuiltMachine machine;
  CHECK(machine.completed({"ex"}) == WordSet{"exercise", "export"});
  CHECK(machine.completed({"train", "--norm", ""}) == WordSet{"layer", "rms"});
  CHECK(machine.completed({"train", "a", "--tokenizer", "b"}) == WordSet{"byte", "bpe"});
  CHECK(machine.completed({"corpus", "--kind", "g"}) == WordSet{"grammar"});
  CHECK(machine.completed({"train", "--out", ""}).empty());  // bash offers files
  CHECK(machine.completed({"train", "te"}).empty());
  CHECK(machine.completed({"lesson", "0"}) == WordSet{"01_first", "02_second_sight", "03_section"});
  CHECK(machine.completed({"debug", "02"}) == WordSet{"02_second_sight"});
  CHECK(machine.completed({"exercise", "0"}) == WordSet{"01_mean"});
  CHECK(machine.completed({"completion", "z"}) == WordSet{"zsh"});
  CHECK(machine.log() == "");  // it builds nothing
}

TEST_CASE("a program that is not built has no completion, and none is built",
          "[commands][launcher][completion]") {
  const BuiltMachine machine;
  fs::remove_all(machine.root / "build");
  CHECK(machine.completed({"train", "--"}).empty());
  CHECK(machine.completed({"lesson", "--an"}) == WordSet{"--answers"});
  CHECK(machine.log() == "");
  CHECK(machine.heed({"completion", "fish"}).err ==
        "heed: error: completion 'fish': must be bash or zsh\n");
  CHECK(machine.heed({"completion"}).code == 2);
}

TEST_CASE("zsh completes the same words", "[commands][launcher][completion]") {
  const BuiltMachine machine;
  CHECK(has(machine.heed({"completion", "zsh"}).out, "compdef _heed heed\n"));
  const std::string zsh = fs::exists("/bin/zsh") ? "/bin/zsh" : "/usr/bin/zsh";
  if (!fs::exists(zsh)) {
    WARN("skipped: zsh is not installed");
    return;
  }
  put(machine / "complete.zsh", R"zsh(compdef() { }
compadd() { shift; print -rl -- "$@"; }
eval "$(./heed completion zsh)"
words=(./heed "$@") CURRENT=$(($# + 1))
_heed)zsh");
  const auto offered = [&](const std::string& words) {
    return set_of_lines(machine.sh({"-c", zsh + " -f ../complete.zsh " + words}, machine.root).out);
  };
  CHECK(offered("train --norm ''") == WordSet{"layer", "rms"});
  CHECK(offered("sample ''") == described_options(BuiltMachine::help_of_program("sample")));
}
