// main.cpp: heed train, heed sample, heed look, heed corpus, heed inspect, heed bench.

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

int print(const Command& command) {
  if (const auto* sample_command = std::get_if<SampleCommand>(&command))
    return sample(*sample_command);
  if (const auto* look_command = std::get_if<LookCommand>(&command)) return look(*look_command);
  if (const auto* corpus_command = std::get_if<CorpusCommand>(&command))
    return corpus(*corpus_command);
  if (const auto* file = std::get_if<InspectCommand>(&command)) return inspect(*file);
  if (const auto* bench_command = std::get_if<BenchCommand>(&command)) return bench(*bench_command);
  std::cout << std::get<ShowText>(command).text;
  return 0;
}

// Training keeps its results in files, so it is not lost with standard output; the rest is.
int run(const Command& command) {
  if (const auto* train_command = std::get_if<TrainCommand>(&command)) return train(*train_command);
  const int code = print(command);
  if (!std::cout.flush())
    heed::throw_error("standard output: cannot be written; is the disk full?");
  return code;
}

// A standard stream that is closed leaves its number to the next file opened, which would then get
// what is printed.
void open_closed_streams() {
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = open("/dev/null", O_RDWR);
  if (descriptor >= 0) close(descriptor);
}

// OpenBLAS and OpenMP read their settings when they are loaded, so better ones mean starting again
// (some 3 ms). If that cannot be done, the program goes on with what it has.
void restart_with_better_settings(char** argv) {
  bool changed = false;
  const auto set = [&](const char* name, const char* value) {
    if (value == nullptr || std::getenv(name) != nullptr) return;
    changed |= setenv(name, value, 1) == 0;
  };
  set("OPENBLAS_CORETYPE", heed::better_openblas_coretype());
  // Threads are heed's own. OpenBLAS would start as many, which it never uses, and they would spin
  // for a tenth of a second on the cores that the first step needs.
  set("OPENBLAS_NUM_THREADS", "1");
  // Threads that wait for each other spin for some microseconds, then sleep. GCC's default is to
  // spin for milliseconds: thirty times slower as soon as another program wants the same cores.
  set("GOMP_SPINCOUNT", "10000");
  if (changed) execv("/proc/self/exe", argv);
}

// The engine reads HEED_TRACE when it first needs it; here an unknown word is wrong use.
void check_trace() {
  try {
    heed::trace_enabled(heed::TraceOption::backward);
  } catch (const heed::Error& error) {
    throw UsageError(error.what());
  }
}

// One line, whatever file names and arguments hold.
int failed(int code, const std::string& text) {
  std::cerr << "heed: error: " << heed::printable(text) << std::endl;
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  open_closed_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its size limit is refused as a full disk is
  restart_with_better_settings(argv);
  try {
    const Command command = parse_command_line(argc, argv);
    check_trace();
    return run(command);
  } catch (const UsageError& error) {
    return failed(2, error.what());
  } catch (const std::bad_alloc&) {
    return failed(1, "out of memory; use a smaller model, batch or block");
  } catch (const std::exception& error) {
    return failed(1, error.what());
  }
}
