// ranks.cpp: agreement and errors of the ranks of a training run.

#include "commands/ranks.hpp"

#include <sched.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <new>
#include <vector>

#include "base/machine.hpp"
#include "commands/flags.hpp"
#include "commands/terminal.hpp"
#include "heed/array/parallel.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/debug/timer.hpp"
#include "parallel/supervise.hpp"

namespace heed::app {
namespace {

constexpr const char* out_of_memory =
    "out of memory; use a smaller model, --batch-size or --block-size";

// The error of a rank's setup as text for the other ranks: a digit, the exit code, and the text; ""
// if there is no error. Sets `facts`.
std::string error_of(const std::function<Facts()>& setup, Facts& facts) {
  try {
    facts = setup();
    return "";
  } catch (const UsageError& error) {
    return std::string("2") + error.what();
  } catch (const std::bad_alloc&) {
    return std::string("1") + out_of_memory;
  } catch (const PeerLost&) {
    throw;
  } catch (const std::exception& error) {
    return std::string("1") + error.what();
  }
}

// The names and values, separated by zero bytes.
std::string text_of(const Facts& facts) {
  std::string text;
  for (const auto& [name, value] : facts) text += name + '\0' + value + '\0';
  return text;
}

Facts facts_in(const std::string& text) {
  const std::vector<std::string> parts = split(text, '\0');
  Facts facts;
  for (std::size_t i = 0; i + 1 < parts.size(); i += 2) facts[parts[i]] = parts[i + 1];
  return facts;
}

std::string prefix_of(std::size_t rank) {
  return rank == 0 ? "" : "rank " + std::to_string(rank) + ": ";
}

// The error about the first fact that differs from rank 0's, in the form of error_of(): "2--lr is
// 0.5, rank 0's is 0.001; ...".
std::string difference(Facts own, Facts expected) {
  for (const auto& fact : expected) own.try_emplace(fact.first, "not given");
  for (const auto& fact : own) expected.try_emplace(fact.first, "not given");
  for (const auto& [name, value] : own)
    if (const std::string& first = expected.at(name); value != first)
      return "2" + name + " is " + value + ", rank 0's is " + first +
             "; start all ranks with the same " + name;
  return "";
}

// Prints the error on one line, if no rank has printed one before.
void print_error(const std::function<bool()>& claim_report, const std::string& text) {
  if (claim_report()) std::cerr << "heed: error: " + printable(text) + "\n" << std::flush;
}

}  // namespace

void agree(Communicator& communicator, const std::function<Facts()>& setup) {
  if (communicator.size() == 1) {
    setup();
    return;
  }
  Facts facts;
  std::string own = error_of(setup, facts);
  const Facts expected = facts_in(broadcast_text(communicator, text_of(facts)));
  if (own.empty()) own = difference(facts, expected);
  const std::vector<std::string> errors = gather_texts(communicator, own);
  for (std::size_t rank = 0; rank < errors.size(); ++rank)
    if (const std::string& error = errors[rank]; !error.empty())
      throw AgreedError(error[0] - '0', prefix_of(rank) + error.substr(1));
}

int run_rank(Communicator& communicator, const std::function<bool()>& claim_report,
             const std::function<int()>& body) {
  const bool first = communicator.rank() == 0;
  const std::string prefix = prefix_of(communicator.rank());
  try {
    return body();
  } catch (const PeerLost&) {
    communicator.abandon();
    return 1;  // the rank that failed prints the error
  } catch (const AgreedError& error) {
    if (first) print_error(claim_report, error.what());
    return first ? error.code : 0;
  } catch (const std::bad_alloc&) {
    print_error(claim_report, prefix + out_of_memory);
  } catch (const std::exception& error) {
    print_error(claim_report, prefix + error.what());
  }
  communicator.abandon();
  return 1;
}

int run_processes(std::size_t processes, const std::function<int(Communicator&)>& body) {
  check_unbound(processes);
  std::cout.flush();  // otherwise each rank would print the rest of the buffer, too
  SharedMemory memory(processes);
  SharedMemory::Status& status = memory.status();
  const RunEnd end = supervise(memory, [&](Communicator& communicator) {
    watch_stop_signal(&status.stop_signal);
    const int code = run_rank(
        communicator, [&] { return status.reported.exchange(1) == 0; },
        [&] { return body(communicator); });
    std::cout.flush();  // a rank ends with _exit(), which calls no exit handlers
    if (communicator.rank() == 0) std::cerr << time_table() << std::flush;
    return code;
  });
  if (!end.error.empty()) std::cerr << "heed: error: " << end.error << std::endl;
  return end.code;
}

// Two ranks use the same cores if they are on the same machine and have the same set of allowed
// cores. (mpirun may bind each rank to a core.)
int ranks_on_these_cores(Communicator& communicator) {
  if (communicator.size() == 1) return 1;
  char machine[256] = "";
  gethostname(machine, sizeof machine - 1);
  std::string cores = machine;
#ifdef __linux__
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &allowed)) cores += " " + std::to_string(i);
#endif
  const std::vector<std::string> all = gather_texts(communicator, cores);
  return static_cast<int>(std::count(all.begin(), all.end(), cores));
}

void check_unbound(std::size_t ranks) {
#ifdef _OPENMP
  if (ranks > 1 && omp_get_proc_bind() != omp_proc_bind_false)
    throw UsageError("OMP_PROC_BIND, OMP_PLACES or GOMP_CPU_AFFINITY binds the threads of all " +
                     std::to_string(ranks) + " ranks to the same cores; unset it, or let mpirun " +
                     "bind each rank to other cores");
#endif
}

void set_rank_threads(int ranks, const int* requested) {
  check_unbound(static_cast<std::size_t>(ranks));
  if (requested != nullptr) return set_num_threads(*requested);
  const int cores = usable_cores(), fitting = std::max(1, cores / ranks);
  const char* const variable = std::getenv("OMP_NUM_THREADS");
  const int wanted = variable == nullptr ? 0 : std::atoi(variable);
  if (wanted > fitting)
    throw UsageError("OMP_NUM_THREADS " + std::string(variable) + " is too large for " +
                     counted(static_cast<std::size_t>(ranks), "rank") + " on " +
                     counted(static_cast<std::size_t>(cores), "core") + "; give at most " +
                     std::to_string(fitting) + ", or --threads");
  set_num_threads(wanted > 0 ? wanted : fitting);
}

}  // namespace heed::app
