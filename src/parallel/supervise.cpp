// supervise.cpp: forks the ranks of a run, passes signals on to them, and waits for them.

#include "parallel/supervise.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "heed/base/error.hpp"

namespace heed {
namespace {

using Clock = std::chrono::steady_clock;

// The time that the other ranks have to end by themselves after one has failed. Rank 0 may be
// writing a file; the file it replaces stays whole if it is killed meanwhile.
constexpr std::chrono::seconds grace{3};

SharedMemory::Status* signal_target = nullptr;  // read by the parent's signal handler
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
  explicit Supervisor(SharedMemory& memory) : memory_(memory) {}
  ~Supervisor() { signal_target = nullptr; }
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  RunEnd run(const std::function<int(Communicator&)>& body) {
    ::signal(SIGCHLD, SIG_DFL);  // if SIGCHLD is ignored, waitpid() reports no rank
    const pid_t parent = getpid();
    for (std::size_t rank = 0; rank < memory_.processes(); ++rank) {
      const pid_t child = fork();
      if (child == 0) run_child(rank, parent, body);
      if (child < 0) throw_not_started(rank, std::strerror(errno));
      ranks_.push_back({child, true, 0});
    }
    catch_signals();
    wait_for_all();
    return end_of_run();
  }

 private:
  struct Rank {
    pid_t process;
    bool running;
    int status;  // as returned by waitpid()
  };

  // Ends this process after body(): only the parent process goes on behind supervise(). The kernel
  // kills the rank if the parent process ends first, even if that one is killed.
  [[noreturn]] void run_child(std::size_t rank, [[maybe_unused]] pid_t parent,
                              const std::function<int(Communicator&)>& body) noexcept {
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
#endif
    SharedMemoryCommunicator communicator(memory_, rank);
    _exit(body(communicator));
  }

  [[noreturn]] void throw_not_started(std::size_t rank, const std::string& reason) {
    kill_all();
    wait_for_all();
    throw_error("--processes ", memory_.processes(), ": rank ", rank,
                " cannot be started: ", reason, "; give fewer processes");
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
    for (std::size_t running = ranks_.size(); running > 0;) {
      const bool may_kill = first_failed_.has_value() || interrupts > 0;
      int status = 0;
      const pid_t ended = waitpid(-1, &status, may_kill ? WNOHANG : 0);
      if (ended > 0) {
        if (note_end(ended, status)) --running;
        continue;
      }
      if (ended < 0 && errno != EINTR) return;
      if (interrupts > 1 || (first_failed_ && Clock::now() > deadline_)) kill_all();
      if (ended == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  // Stores how a rank has ended. Returns false if the process is not a rank.
  bool note_end(pid_t process, int status) {
    const auto rank = std::find_if(ranks_.begin(), ranks_.end(), [&](const Rank& each) {
      return each.process == process && each.running;
    });
    if (rank == ranks_.end()) return false;
    rank->running = false;
    rank->status = status;
    if (status == 0 || first_failed_) return true;
    first_failed_ = rank - ranks_.begin();
    deadline_ = Clock::now() + grace;
    memory_.status().failed = 1;
    return true;
  }

  RunEnd end_of_run() const {
    if (!first_failed_) return {};
    if (interrupts > 1) return {128 + SIGINT};
    const Rank& failed = ranks_[static_cast<std::size_t>(*first_failed_)];
    const bool was_killed = WIFSIGNALED(failed.status);
    const int stop = memory_.status().stop_signal;
    // A rank that does not catch signals yet is killed by the signal that stops the run.
    if (was_killed && WTERMSIG(failed.status) == stop) return {128 + stop};
    const int first = WIFEXITED(ranks_[0].status) ? WEXITSTATUS(ranks_[0].status) : 1;
    const bool is_reported = memory_.status().reported != 0 || (!was_killed && *first_failed_ == 0);
    return {std::max(first, 1), is_reported ? "" : description_of(failed)};
  }

  // Describes how a rank ended that could not print an error itself.
  std::string description_of(const Rank& failed) const {
    std::string how;
    if (WIFSIGNALED(failed.status)) {
      const int signal = WTERMSIG(failed.status);
      how = "was killed by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
    } else {
      how = "ended with exit code " + std::to_string(WEXITSTATUS(failed.status));
    }
    const bool was_killed = WIFSIGNALED(failed.status) && WTERMSIG(failed.status) == SIGKILL;
    return "rank " + std::to_string(*first_failed_) + " (process " +
           std::to_string(failed.process) + ") " + how +
           "; all ranks have stopped; --resume continues from the last checkpoint, if one was "
           "saved" +
           (was_killed ? "; if memory was short, give fewer --processes" : "");
  }

  SharedMemory& memory_;
  std::vector<Rank> ranks_;
  std::optional<std::ptrdiff_t> first_failed_;  // the rank that failed first
  Clock::time_point deadline_{};                // when the other ranks are killed
};

}  // namespace

RunEnd supervise(SharedMemory& memory, const std::function<int(Communicator&)>& body) {
  return Supervisor(memory).run(body);
}

}  // namespace heed
