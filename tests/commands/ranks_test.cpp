// ranks_test.cpp: agreement and errors of the ranks of a run, and what happens when one fails.

#include "commands/ranks.hpp"

#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <iostream>
#include <sstream>
#include <thread>

#include "catch.hpp"
#include "message_of.hpp"
#include "parallel/threads_as_ranks.hpp"
#include "scratch_folder.hpp"

using namespace heed;
using namespace heed::app;
using heed::test::message_of;
using heed_test::run_ranks;
using heed_test::ScratchFolder;

namespace {

int forks_left = -1;  // how many calls of fork() succeed; -1: no limit

// The errors that run_rank() prints while this lives.
class CapturedErrors {
 public:
  CapturedErrors() : old_(std::cerr.rdbuf(text_.rdbuf())) {}
  ~CapturedErrors() { std::cerr.rdbuf(old_); }
  CapturedErrors(const CapturedErrors&) = delete;
  CapturedErrors& operator=(const CapturedErrors&) = delete;
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::streambuf* old_;
};

// run_processes(), which leaves handlers of signals behind; this restores those of the tests.
int run_and_restore(std::size_t processes, const std::function<int(Communicator&)>& body) {
  const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};
  struct sigaction old[4];
  for (std::size_t i = 0; i < 4; ++i) sigaction(signals[i], nullptr, &old[i]);
  const auto restore = [&] {
    for (std::size_t i = 0; i < 4; ++i) sigaction(signals[i], &old[i], nullptr);
  };
  try {
    const int code = run_processes(processes, body);
    restore();
    return code;
  } catch (...) {
    restore();
    throw;
  }
}

// The error that agree() throws on each rank, "" if it throws none.
std::vector<std::string> agreed_errors(std::size_t ranks,
                                       const std::function<Facts(std::size_t rank)>& setup) {
  std::vector<std::string> errors(ranks);
  run_ranks(ranks, [&](Communicator& communicator) {
    const std::size_t rank = communicator.rank();
    try {
      agree(communicator, [&] { return setup(rank); });
    } catch (const AgreedError& error) {
      errors[rank] = std::to_string(error.code) + ": " + error.what();
    }
  });
  return errors;
}

}  // namespace

// Replaces the function of the C library in this program.
extern "C" pid_t fork() {
  if (forks_left == 0) {
    errno = EAGAIN;
    return -1;
  }
  if (forks_left > 0) --forks_left;
  static const auto original = reinterpret_cast<pid_t (*)()>(dlsym(RTLD_NEXT, "fork"));
  return original();
}

TEST_CASE("ranks with other facts than rank 0 are rejected, whichever rank it is",
          "[commands][ranks]") {
  const auto errors_if_differs = [](std::size_t different) {
    return agreed_errors(4, [&](std::size_t rank) {
      return Facts{{"--lr", rank == different ? "0.5" : "0.001"}, {"text", "1f"}};
    });
  };
  for (const std::size_t rank : {1, 2, 3})
    CHECK(errors_if_differs(rank) ==
          std::vector<std::string>(4, "2: rank " + std::to_string(rank) +
                                          ": --lr is 0.5, rank 0's is 0.001; start all ranks with "
                                          "the same --lr"));
  CHECK(errors_if_differs(9) == std::vector<std::string>(4, ""));
}

TEST_CASE("an error of one rank's setup is thrown by all ranks", "[commands][ranks]") {
  for (const std::size_t failing : {0, 1, 3}) {
    const std::string name = failing == 0 ? "" : "rank " + std::to_string(failing) + ": ";
    CHECK(agreed_errors(4, [&](std::size_t rank) {
            if (rank == failing) throw std::runtime_error("no text");
            return Facts{};
          }) == std::vector<std::string>(4, "1: " + name + "no text"));
  }
}

TEST_CASE("rank 0 reports an agreed error, and the other ranks end with 0", "[commands][ranks]") {
  std::vector<int> codes(2), claims(2);
  const CapturedErrors errors;
  run_ranks(2, [&](Communicator& communicator) {
    const std::size_t rank = communicator.rank();
    codes[rank] = run_rank(
        communicator, [&] { return ++claims[rank] == 1; },
        []() -> int { throw AgreedError(2, "the ranks differ"); });
  });
  CHECK(codes == std::vector<int>{2, 0});
  CHECK(claims == std::vector<int>{1, 0});
  CHECK(errors.text() == "heed: error: the ranks differ\n");
}

TEST_CASE("if a rank cannot be started, the others have ended when the error is thrown",
          "[commands][ranks]") {
  forks_left = 1;
  const std::string message = message_of([] {
    run_and_restore(2, [](Communicator&) {
      for (;;) pause();
      return 0;
    });
  });
  forks_left = -1;
  CHECK(message == "--processes 2: rank 1 cannot be started: " +
                       std::string(std::strerror(EAGAIN)) + "; give fewer processes");
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}

TEST_CASE("after a rank has failed, the others have time to end by themselves",
          "[commands][ranks]") {
  const ScratchFolder folder;
  const CapturedErrors errors;
  CHECK(run_and_restore(2, [&](Communicator& communicator) {
          if (communicator.rank() == 1) return 3;
          std::this_thread::sleep_for(std::chrono::milliseconds(800));
          folder.write("end", "rank 0 has ended by itself");
          return 0;
        }) == 1);
  CHECK(folder.read("end") == "rank 0 has ended by itself");
  CHECK(heed_test::has(errors.text(), "heed: error: rank 1 (process "));
  CHECK(heed_test::has(errors.text(), ") ended with exit code 3; all ranks have stopped; "));
}
