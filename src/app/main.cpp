// main.cpp: the program heed: runs the command and prints errors.

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <new>

#include "heed/app/commands.hpp"
#include "heed/array/matmul.hpp"
#include "heed/autograd/trace/trace.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace {

using namespace heed::app;

int print_results(const Command& command) {
  if (const auto* sample_command = std::get_if<SampleCommand>(&command))
    return sample(*sample_command);
  if (const auto* look_command = std::get_if<LookCommand>(&command)) return look(*look_command);
  if (const auto* corpus_command = std::get_if<CorpusCommand>(&command))
    return corpus(*corpus_command);
  if (const auto* inspect_command = std::get_if<InspectCommand>(&command))
    return inspect(*inspect_command);
  if (const auto* bench_command = std::get_if<BenchCommand>(&command)) return bench(*bench_command);
  std::cout << std::get<ShowText>(command).text;
  return 0;
}

// A full disk behind stdout is an error, except for train, which keeps its results in files.
int run(const Command& command) {
  if (const auto* train_command = std::get_if<TrainCommand>(&command)) return train(*train_command);
  const int code = print_results(command);
  if (!std::cout.flush())
    heed::throw_error("standard output: cannot be written; is the disk full?");
  return code;
}

// If a standard stream is closed, the next file opened gets its descriptor, and the program would
// print into that file.
void open_closed_streams() {
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = open("/dev/null", O_RDWR);
  if (descriptor >= 0) close(descriptor);
}

// OpenBLAS and OpenMP read environment variables when they are loaded. To change them, the program
// must start again (about 3 ms). If that fails, it continues with the present settings.
void restart_with_better_settings(char** argv) {
  bool changed = false;
  const auto set = [&](const char* name, const char* value) {
    if (value == nullptr || std::getenv(name) != nullptr) return;
    changed |= setenv(name, value, 1) == 0;
  };
  set("OPENBLAS_CORETYPE", heed::better_openblas_coretype());
  // heed starts its own threads. OpenBLAS would start as many, never use them, and let them spin
  // for a tenth of a second on the cores that the first step needs.
  set("OPENBLAS_NUM_THREADS", "1");
  // Waiting threads spin for some microseconds, then sleep. GCC's default is to spin for
  // milliseconds, which is thirty times slower when another program uses the same cores.
  set("GOMP_SPINCOUNT", "10000");
  if (changed) execv("/proc/self/exe", argv);
}

// An unknown word in HEED_TRACE is a usage error. (autograd reads HEED_TRACE at its first use.)
void check_trace() {
  try {
    heed::trace_enabled(heed::TraceOption::backward);
  } catch (const heed::Error& error) {
    throw UsageError(error.what());
  }
}

// Prints the error on one line: control characters in file names and arguments are escaped.
int print_error(int code, const std::string& text) {
  std::cerr << "heed: error: " << heed::printable(text) << std::endl;
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  open_closed_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // writing beyond ulimit -f then fails with an error code
  restart_with_better_settings(argv);
  try {
    const Command command = parse_command_line(argc, argv);
    check_trace();
    return run(command);
  } catch (const UsageError& error) {
    return print_error(2, error.what());
  } catch (const std::bad_alloc&) {
    return print_error(1, "out of memory; use a smaller model, --batch-size or --block-size");
  } catch (const std::exception& error) {
    return print_error(1, error.what());
  }
}
