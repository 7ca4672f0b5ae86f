// program.cpp: the main function of a command's program.

#include "commands/program.hpp"

#include <new>

#include "commands/start.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace heed::app {
namespace {

// Prints an error message on one line, with control characters in file names and arguments escaped.
// Returns `code`, the exit code of the program.
int print_error(int code, const std::string& text) {
  std::cerr << "heed: error: " << printable(text) << std::endl;
  return code;
}

}  // namespace

int run_program(int argc, char** argv, const std::function<int(const Arguments&)>& run) {
  start_program(argv);
  try {
    return run(Arguments(argv + (argc > 0 ? 1 : 0), argv + argc));
  } catch (const UsageError& error) {
    return print_error(2, error.what());
  } catch (const std::bad_alloc&) {
    return print_error(
        1, "out of memory; use a smaller model, --batch-size, --block-size or --samples");
  } catch (const std::exception& error) {
    return print_error(1, error.what());
  }
}

void check_output() {
  if (!std::cout.flush())
    throw_error("standard output: cannot be written; is it closed, or the disk full?");
}

}  // namespace heed::app
