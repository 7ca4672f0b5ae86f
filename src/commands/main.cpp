// main.cpp: the main function of heed, which runs a command and prints errors.

#include <iostream>
#include <new>

#include "commands/options.hpp"
#include "commands/start.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace {

using namespace heed::app;

int run(const ShowText& shown) {
  std::cout << shown.text;
  return 0;
}

// Runs a command and returns its exit code. Throws Error if a write to stdout failed, except in
// `heed train`, whose results are in files.
int run_and_flush(const Command& command) {
  const int code = std::visit([](const auto& alternative) { return run(alternative); }, command);
  if (!std::holds_alternative<TrainCommand>(command) && !std::cout.flush())
    heed::throw_error("standard output: cannot be written; is it closed, or the disk full?");
  return code;
}

// Prints an error message on one line, with control characters in file names and arguments escaped.
// Returns `code`, the exit code of the program.
int print_error(int code, const std::string& text) {
  std::cerr << "heed: error: " << heed::printable(text) << std::endl;
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  start_program(argv);
  try {
    const Command command = parse_command_line(argc, argv);
    check_environment();
    return run_and_flush(command);
  } catch (const UsageError& error) {
    return print_error(2, error.what());
  } catch (const std::bad_alloc&) {
    return print_error(
        1, "out of memory; use a smaller model, --batch-size, --block-size or --samples");
  } catch (const std::exception& error) {
    return print_error(1, error.what());
  }
}
