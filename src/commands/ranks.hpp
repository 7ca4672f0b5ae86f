// ranks.hpp: functions for the processes (ranks) of a command: they check at the start that all
// ranks agree, report one error for all, and fork ranks.
#pragma once

#include <functional>
#include <map>
#include <stdexcept>
#include <string>

#include "heed/parallel/communicator.hpp"

namespace heed::app {

// An error that all ranks know and throw together. Only rank 0 prints it.
struct AgreedError : std::runtime_error {
  AgreedError(int exit_code, const std::string& text) : std::runtime_error(text), code(exit_code) {}
  int code;  // the exit code of the program
};

// Values that must be equal on all ranks, by name: {"--lr", "0.001"}, {"text", "1f..."}.
using Facts = std::map<std::string, std::string>;

// Collective: calls `setup` on every rank and compares the facts that it returns. If setup throws
// on some ranks, all ranks throw AgreedError with the error of the first of them. If a fact
// differs, all ranks throw AgreedError (exit code 2), which names the rank and the fact. With one
// process, an exception of `setup` is passed on unchanged.
void agree(Communicator& communicator, const std::function<Facts()>& setup);

// Calls body() and prints its error, unless another rank prints it: `claim_report` returns true for
// the first rank that calls it. Returns the exit code of this rank. Rank 0 prints errors that all
// ranks throw together; the other ranks then return 0. Any other error names the rank, and makes
// run_rank() call Communicator::abandon().
int run_rank(Communicator& communicator, const std::function<bool()>& claim_report,
             const std::function<int()>& body);

// Forks `processes` ranks, which call body() with communicators of shared memory and then end, and
// waits for them as supervise() does. Returns the exit code. If a rank is killed, prints one line
// that names the rank. A signal to this process is the received_signal() of all ranks. Throws the
// errors of supervise() and check_unbound().
int run_processes(std::size_t processes, const std::function<int(Communicator&)>& body);

// Collective: the number of ranks that use the same cores as this one: the ranks of this machine,
// or 1 if each rank is bound to cores of its own.
int ranks_on_these_cores(Communicator& communicator);

// Throws UsageError if OpenMP binds threads to cores: every one of several ranks on the same cores
// would bind its first thread to the first core.
void check_unbound(std::size_t ranks);

// Sets the number of threads of a rank: `requested`, else OMP_NUM_THREADS, else an equal part of
// the cores that `ranks` ranks use. Throws UsageError if OMP_NUM_THREADS is too large for the
// cores, or as check_unbound() does.
void set_rank_threads(int ranks, const int* requested);

}  // namespace heed::app
