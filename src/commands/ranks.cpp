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
#include "commands/options.hpp"
#include "heed/array/parallel.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/train/trainer.hpp"

namespace heed::app {
namespace {

constexpr const char* out_of_memory =
    "out of memory; use a smaller model, --batch-size or --block-size";

// The result of a rank's setup, as a text for the other ranks: an exit code and an error, or 0 and
// the facts. The parts are separated by zero bytes.
struct Outcome {
  int code = 0;
  std::string error;
  Facts facts;

  std::string text() const {
    std::vector<std::string> parts{std::to_string(code), error};
    for (const auto& [name, value] : facts) parts.insert(parts.end(), {name, value});
    return joined(parts, std::string_view("\0", 1));
  }
  static Outcome of_text(const std::string& text) {
    const std::vector<std::string> parts = split(text, '\0');
    Outcome outcome{std::atoi(parts.at(0).c_str()), parts.at(1), {}};
    for (std::size_t i = 2; i + 1 < parts.size(); i += 2) outcome.facts[parts[i]] = parts[i + 1];
    return outcome;
  }
};

Outcome outcome_of(const std::function<Facts()>& setup) {
  try {
    return {0, "", setup()};
  } catch (const UsageError& error) {
    return {2, error.what(), {}};
  } catch (const std::bad_alloc&) {
    return {1, out_of_memory, {}};
  } catch (const PeerLost&) {
    throw;
  } catch (const std::exception& error) {
    return {1, error.what(), {}};
  }
}

// "rank 2: --lr is 0.5, rank 0's is 0.001; ...", or "" if all facts are equal.
std::string first_difference(std::size_t rank, const Facts& facts, const Facts& expected) {
  Facts own = facts, reference = expected;
  for (const auto& entry : expected) own.try_emplace(entry.first, "not given");
  for (const auto& entry : facts) reference.try_emplace(entry.first, "not given");
  for (const auto& [name, value] : reference)
    if (own.at(name) != value)
      return "rank " + std::to_string(rank) + ": " + name + " is " + own.at(name) +
             ", rank 0's is " + value + "; start all ranks with the same " + name;
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
  std::vector<Outcome> outcomes;
  for (const std::string& text : gather_texts(communicator, outcome_of(setup).text()))
    outcomes.push_back(Outcome::of_text(text));
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank)
    if (const Outcome& o = outcomes[rank]; o.code != 0)
      throw AgreedError(o.code,
                        rank == 0 ? o.error : "rank " + std::to_string(rank) + ": " + o.error);
  for (std::size_t rank = 1; rank < outcomes.size(); ++rank)
    if (const auto text = first_difference(rank, outcomes[rank].facts, outcomes[0].facts);
        !text.empty())
      throw AgreedError(2, text);
}

int run_rank(Communicator& communicator, const std::function<bool()>& claim_report,
             const std::function<int()>& body) {
  const bool first = communicator.rank() == 0;
  const std::string prefix = first ? "" : "rank " + std::to_string(communicator.rank()) + ": ";
  try {
    return body();
  } catch (const PeerLost&) {
    communicator.abandon();
    return 1;  // the rank that failed prints the error
  } catch (const AgreedError& error) {
    if (first) print_error(claim_report, error.what());
    return first ? error.code : 0;
  } catch (const Diverged&) {
    return 0;  // rank 0 throws Error instead, after it has looked at the saved files
  } catch (const std::bad_alloc&) {
    print_error(claim_report, prefix + out_of_memory);
  } catch (const std::exception& error) {
    print_error(claim_report, prefix + error.what());
  }
  communicator.abandon();
  return 1;
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
