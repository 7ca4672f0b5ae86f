// start.cpp: initialisation that the programs of all commands and heed_mpi share.

#include "commands/start.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <tuple>

#include "base/instructions.hpp"
#include "base/machine.hpp"
#include "commands/environment.hpp"
#include "commands/flags.hpp"
#include "commands/gemm_setting.hpp"
#include "heed/array/blas.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/debug/trace.hpp"

namespace heed::app {
namespace {

// Opens /dev/null in place of closed standard streams. If stdout were closed, the next file that is
// opened would get descriptor 1, and the program would print into this file. Writing to these
// streams fails, so that a lost output is an error.
void open_closed_streams() {
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = open("/dev/null", O_RDONLY);
  if (descriptor >= 0) close(descriptor);
}

// Sets environment variables of the libraries and restarts the program (about 3 ms) if one was not
// set, because the libraries read these variables only when they are loaded. The program heed sets
// them before it starts a command's program. If the program cannot restart itself, the libraries
// keep their old settings.
void restart_with_better_settings(char** argv) {
  bool changed = set_library_variables();
  changed |= set_variable("OPENBLAS_CORETYPE", heed::better_openblas_coretype());
  if (!changed) return;
  unbind_thread();
  execv("/proc/self/exe", argv);
}

// OpenBLAS uses the kernels of the processor that OPENBLAS_CORETYPE names, without a check.
std::string illegal_instruction_text;

void report_illegal_instruction(int) {
  std::ignore =
      write(STDERR_FILENO, illegal_instruction_text.data(), illegal_instruction_text.size());
  _exit(1);
}

void catch_illegal_instructions() {
  const char* const core = std::getenv("OPENBLAS_CORETYPE");
  if (core == nullptr) return;
  illegal_instruction_text = "heed: error: OPENBLAS_CORETYPE=" + printable(core) +
                             ": this processor lacks instructions of that one; unset it\n";
  std::signal(SIGILL, report_illegal_instruction);
}

void check_isa() {
  const std::string isa = isa_setting();
  if (isa.empty()) return;
  if (isa != "avx2") throw UsageError("HEED_ISA " + in_quotes(isa) + ": give avx2, or unset it");
  if (!has_avx2()) throw UsageError("HEED_ISA avx2: this processor lacks AVX2 or FMA; unset it");
}

}  // namespace

void start_program(char** argv) {
  open_closed_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // makes a write beyond `ulimit -f` fail instead of killing heed
  restart_with_better_settings(argv);
  catch_illegal_instructions();
  hide_call_sites();  // errors show no source lines: the user wrote no code
}

void check_environment() {
  constexpr rlim_t needed = 512 * 1024;  // bytes; with 128 kB, OpenBLAS ended with SIGSEGV
  rlimit stack{};
  if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < needed)
    throw_error("the stack may have ", stack.rlim_cur / 1024, " kB (ulimit -s), and heed needs ",
                needed / 1024, "; raise the limit");

  check_isa();
  static_cast<void>(gemm_from_environment());  // throws for a wrong value
  try {
    heed::trace_enabled(heed::TraceOption::backward);
  } catch (const heed::Error& error) {
    throw UsageError(error.what());
  }
}

}  // namespace heed::app
