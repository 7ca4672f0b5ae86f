// main.cpp: the main function of heed, which runs a command and prints errors.

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <new>

#include "heed/app/options.hpp"
#include "heed/array/matmul.hpp"
#include "heed/autograd/trace/trace.hpp"
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
    heed::throw_error("standard output: cannot be written; is the disk full?");
  return code;
}

// Opens /dev/null in place of closed standard streams. If stdout were closed, the next file that is
// opened would get descriptor 1, and the program would print into this file.
void open_closed_streams() {
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = open("/dev/null", O_RDWR);
  if (descriptor >= 0) close(descriptor);
}

// Sets environment variables of OpenBLAS and OpenMP and restarts the program (about 3 ms), because
// the libraries read these variables only when they are loaded. If the program cannot restart
// itself, OpenBLAS and OpenMP keep their old settings.
void restart_with_better_settings(char** argv) {
  bool changed = false;
  const auto set = [&](const char* name, const char* value) {
    if (value == nullptr || std::getenv(name) != nullptr) return;
    changed |= setenv(name, value, 1) == 0;
  };
  set("OPENBLAS_CORETYPE", heed::better_openblas_coretype());
  // heed calls OpenBLAS from its own threads. Additional threads of OpenBLAS would busy-wait for
  // 0.1 s on the cores that the first training step needs.
  set("OPENBLAS_NUM_THREADS", "1");
  // Makes idle OpenMP threads busy-wait for some microseconds, then sleep. GCC's default, some
  // milliseconds, makes heed thirty times slower if another program uses the same cores.
  set("GOMP_SPINCOUNT", "10000");
  if (changed) execv("/proc/self/exe", argv);
}

// Throws UsageError for an unknown option in HEED_TRACE, which trace_enabled() parses.
void check_trace() {
  try {
    heed::trace_enabled(heed::TraceOption::backward);
  } catch (const heed::Error& error) {
    throw UsageError(error.what());
  }
}

// Prints an error message on one line, with control characters in file names and arguments escaped.
// Returns `code`, the exit code of the program.
int print_error(int code, const std::string& text) {
  std::cerr << "heed: error: " << heed::printable(text) << std::endl;
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  open_closed_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // makes a write beyond `ulimit -f` fail instead of killing heed
  restart_with_better_settings(argv);
  heed::hide_call_sites();  // errors show no source lines: the user wrote no code
  try {
    const Command command = parse_command_line(argc, argv);
    check_trace();
    return run_and_flush(command);
  } catch (const UsageError& error) {
    return print_error(2, error.what());
  } catch (const std::bad_alloc&) {
    return print_error(1, "out of memory; use a smaller model, --batch-size or --block-size");
  } catch (const std::exception& error) {
    return print_error(1, error.what());
  }
}
