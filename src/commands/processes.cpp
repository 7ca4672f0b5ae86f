// processes.cpp: forks the ranks of a training run, and waits for them.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <cerrno>
#include <chrono>
#include <cstring>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "commands/ranks.hpp"
#include "commands/terminal.hpp"
#include "heed/autograd/trace/trace.hpp"
#include "heed/base/error.hpp"
#include "heed/parallel/shared_memory.hpp"

namespace heed::app {
namespace {

using Clock = std::chrono::steady_clock;

// Seconds that the other ranks have to end by themselves after one has failed. Rank 0 may be
// writing a file; the file it replaces stays whole if it is killed meanwhile.
constexpr double grace_seconds = 3;

SharedMemory::Status* signal_target = nullptr;  // for the handler of the parent process
volatile sig_atomic_t interrupts = 0;

void pass_signal_on(int signal) {
  if (signal_target == nullptr) return;
  int none = 0;
  signal_target->stop_signal.compare_exchange_strong(none, signal);
  if (signal == SIGINT) interrupts = interrupts + 1;
}

// Waits for the ranks, which run in child processes. The parent process itself does not train.
class Supervisor {
 public:
  explicit Supervisor(std::size_t processes) : memory_(processes) {}
  ~Supervisor() { signal_target = nullptr; }
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  int run(const std::function<int(Communicator&)>& body) {
    ::signal(SIGCHLD, SIG_DFL);  // if SIGCHLD is ignored, waitpid() reports no rank
    const pid_t parent = getpid();
    std::cout.flush();  // else each rank would print the rest of the buffer too
    for (std::size_t rank = 0; rank < memory_.processes(); ++rank) {
      const pid_t child = fork();
      if (child == 0) run_child(rank, parent, body);
      if (child < 0) {
        const std::string reason = std::strerror(errno);
        kill_all();
        wait_for_all();
        throw_error("--processes ", memory_.processes(), ": rank ", rank,
                    " cannot be started: ", reason, "; give fewer processes");
      }
      ranks_.push_back({child, true, 0});
    }
    catch_signals();
    wait_for_all();
    return exit_code();
  }

 private:
  struct Rank {
    pid_t process;
    bool running;
    int status;  // as waitpid() reports it
  };

  // Ends this process after body(): only the parent process goes on behind run_processes(). The
  // kernel kills the rank if the parent process ends first, even if that one is killed.
  [[noreturn]] void run_child(std::size_t rank, [[maybe_unused]] pid_t parent,
                              const std::function<int(Communicator&)>& body) {
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
#endif
    SharedMemoryCommunicator communicator(memory_, rank);
    watch_stop_signal(&memory_.status().stop_signal);
    const int code = run_rank(
        communicator, [&] { return memory_.status().reported.exchange(1) == 0; },
        [&] { return body(communicator); });
    std::cout.flush();
    if (rank == 0) std::cerr << time_table() << std::flush;  // _exit() calls no exit handlers
    _exit(code);
  }

  void catch_signals() {
    signal_target = &memory_.status();
    struct sigaction action {};
    action.sa_handler = pass_signal_on;  // without SA_RESTART, a signal interrupts waitpid()
    for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
    struct sigaction old {};
    if (sigaction(SIGHUP, nullptr, &old) == 0 && old.sa_handler != SIG_IGN)
      sigaction(SIGHUP, &action, nullptr);
  }

  void kill_all() {
    for (const Rank& rank : ranks_)
      if (rank.running) ::kill(rank.process, SIGKILL);
  }

  // Waits until all ranks have ended. After the first failure the others get some seconds to end by
  // themselves, then they are killed. A second SIGINT ends all of them at once.
  void wait_for_all() {
    bool killed = false;
    Clock::time_point deadline{};
    for (std::size_t running = ranks_.size(); running > 0;) {
      const bool failing = first_failed_.has_value();
      int status = 0;
      const pid_t ended = waitpid(-1, &status, failing || interrupts > 0 ? WNOHANG : 0);
      if (ended > 0) {
        running -= note_end(ended, status) ? 1 : 0;
        if (!failing && first_failed_.has_value())
          deadline =
              Clock::now() + std::chrono::milliseconds(static_cast<int>(1e3 * grace_seconds));
        continue;
      }
      if (ended < 0 && errno != EINTR) return;
      if (!killed && (interrupts > 1 || (failing && Clock::now() > deadline))) {
        kill_all();
        killed = true;
      }
      if (ended == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  // Stores how a rank has ended. Returns false if the process is not a rank.
  bool note_end(pid_t process, int status) {
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      if (ranks_[i].process != process || !ranks_[i].running) continue;
      ranks_[i].running = false;
      ranks_[i].status = status;
      if (status != 0 && !first_failed_) {
        first_failed_ = i;
        memory_.status().failed = 1;
      }
      return true;
    }
    return false;
  }

  // The exit code of the run. Prints the end of a rank that could not print an error itself.
  int exit_code() {
    if (!first_failed_) return 0;
    const int stop = memory_.status().stop_signal.load();
    if (interrupts > 1) return 128 + SIGINT;
    const Rank& failed = ranks_[*first_failed_];
    const bool was_killed = WIFSIGNALED(failed.status);
    // A rank that does not catch signals yet is killed by the signal that stops the run.
    if (was_killed && WTERMSIG(failed.status) == stop) return 128 + stop;
    const int first = WIFEXITED(ranks_[0].status) ? WEXITSTATUS(ranks_[0].status) : 1;
    if (memory_.status().reported.load() == 0 && (was_killed || *first_failed_ != 0)) {
      const int code = was_killed ? WTERMSIG(failed.status) : WEXITSTATUS(failed.status);
      std::cerr << "heed: error: rank " << *first_failed_ << " (process " << failed.process << ") "
                << (was_killed ? "was killed by signal " : "ended with exit code ") << code
                << (was_killed ? std::string(" (") + strsignal(code) + ")" : "")
                << "; all ranks have stopped; --resume continues from the last checkpoint, if one "
                   "was saved"
                << (was_killed && code == SIGKILL ? "; if memory was short, give fewer --processes"
                                                  : "")
                << std::endl;
      return first > 1 ? first : 1;
    }
    return first != 0 ? first : 1;
  }

  SharedMemory memory_;
  std::vector<Rank> ranks_;
  std::optional<std::size_t> first_failed_;  // the rank that failed first
};

}  // namespace

int run_processes(std::size_t processes, const std::function<int(Communicator&)>& body) {
  check_unbound(processes);
  return Supervisor(processes).run(body);
}

}  // namespace heed::app
