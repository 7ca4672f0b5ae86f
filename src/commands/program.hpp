// program.hpp: the main function of a command's program.
#pragma once

#include <functional>
#include <iostream>
#include <variant>

#include "commands/flags.hpp"
#include "commands/start.hpp"

namespace heed::app {

// Calls run() with the arguments behind the program's name, and prints its error. Returns the exit
// code of the program.
int run_program(int argc, char** argv, const std::function<int(const Arguments&)>& run);

// Throws Error if a write to stdout failed.
void check_output();

// The main function of the program of a command, such as TrainCommand: parses the arguments and
// runs the command.
template <class Command>
int main_of(int argc, char** argv) {
  return run_program(argc, argv, [](const Arguments& arguments) {
    const std::variant<Command, ShowText> what = parsed<Command>(arguments);
    check_environment();
    if (const auto* const shown = std::get_if<ShowText>(&what)) {
      std::cout << shown->text;
      check_output();
      return 0;
    }
    const int code = run(std::get<Command>(what));
    if (!Command::ignores_stdout_errors) check_output();
    return code;
  });
}

}  // namespace heed::app
