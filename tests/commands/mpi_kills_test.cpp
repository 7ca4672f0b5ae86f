// mpi_kills_test.cpp: ranks of mpirun killed at random moments: no hang and no damaged checkpoint.
// 100 kills take some minutes: build/release/tests/heed_tests '[hundred_kills]'

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <sstream>
#include <thread>

#include "catch.hpp"
#include "commands/mpirun.hpp"

using namespace heed_test;

#ifdef __linux__
namespace {

using Clock = std::chrono::steady_clock;

const Arguments options = {"--layers",     "1",   "--embed-dim",    "16", "--heads",       "2",
                           "--block-size", "16",  "--batch-size",   "8",  "--shards",      "4",
                           "--dropout",    "0.1", "--eval-batches", "1",  "--eval-every",  "7",
                           "--log-every",  "50",  "--warmup",       "4",  "--decay-steps", "50"};

std::vector<pid_t> read_numbers(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istream_iterator<pid_t>(file), {}};
}

// The child processes of a process, whichever of its threads has started them.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  std::error_code ignored;
  const std::filesystem::path folder = "/proc/" + std::to_string(parent) + "/task";
  for (const auto& thread : std::filesystem::directory_iterator(folder, ignored))
    for (const pid_t child : read_numbers(thread.path() / "children")) children.push_back(child);
  return children;
}

// Whether the process is running: a zombie has ended.
bool is_running(pid_t process) {
  const std::string text = content("/proc/" + std::to_string(process) + "/stat");
  return !text.empty() && text.compare(text.rfind(')') + 2, 1, "Z") != 0;
}

// Whether all processes end within 10 seconds.
bool wait_for_end(const std::vector<pid_t>& processes) {
  const auto running = [&] { return std::any_of(processes.begin(), processes.end(), is_running); };
  const Clock::time_point start = Clock::now();
  while (running() && Clock::now() - start < std::chrono::seconds(10))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return !running();
}

// The rank of a process that mpirun has started.
std::string rank_of_process(pid_t process) {
  const std::string name = "OMPI_COMM_WORLD_RANK=";
  std::istringstream environment(content("/proc/" + std::to_string(process) + "/environ"));
  for (std::string entry; std::getline(environment, entry, '\0');)
    if (entry.compare(0, name.size(), name) == 0) return entry.substr(name.size());
  return "";
}

// A run of four ranks that is killed again and again, and resumed.
class KilledRun {
 public:
  explicit KilledRun(unsigned seed) : random_(seed) {}

  // Kills one rank while the ranks start, or after their first steps. Returns the seconds until all
  // ranks have ended.
  double kill_once() {
    const bool resume = has_checkpoint();
    if (!resume) std::filesystem::remove_all(sandbox_ / "o");
    Child child(mpirun_call(sandbox_, command(resume)));
    const std::vector<pid_t> ranks = started_ranks(child.process());
    const bool after_first_step = random_() % 2 == 0;
    if (after_first_step) child.read_until("\nstep ");
    std::this_thread::sleep_for(std::chrono::milliseconds(random_() % 700));
    const pid_t target = ranks.at(random_() % ranks.size());
    const std::string rank = rank_of_process(target);
    const Clock::time_point start = Clock::now();
    kill(target, SIGKILL);
    const bool ended = wait_for_end(ranks);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    CHECK(ended);
    const bool mpirun_ended = wait_for_end({child.process()});
    if (!mpirun_ended) child.kill(SIGKILL);
    if (!mpirun_ended) ++stuck_;
    const Finished finished = child.finish();
    INFO(finished.err);
    CHECK(finished.code != 0);
    CHECK(finished.err != "");
    const bool is_named = has(finished.err, "process rank " + rank + " ");
    if (is_named) ++named_;
    if (after_first_step) ++late_, named_late_ += is_named;
    if (has_checkpoint()) CHECK_FALSE(step().empty());  // throws for a damaged checkpoint
    return seconds;
  }

  // How often mpirun did not end after its ranks had: Open MPI 4.1.4 with PMIx 4.2.2 can wait for a
  // lock of its own in PMIx_server_finalize() when a rank is killed while MPI_Init() runs.
  int stuck() const { return stuck_; }
  // How often mpirun has named the killed rank. Early in MPI_Init() it names none.
  int named() const { return named_; }
  // The kills after a first step, and how often mpirun has named the rank of such a kill.
  int late() const { return late_; }
  int named_late() const { return named_late_; }

  // Whether the run, continued by one process, is the run that was never interrupted.
  void check_equals_uninterrupted() {
    REQUIRE(has_checkpoint());
    const Arguments end = {"--threads", "1", "--steps", std::to_string(std::stoi(step()) + 10)};
    REQUIRE(sandbox_.heed(Arguments{"train", "--resume", "--out", "o"} + end).code == 0);
    REQUIRE(sandbox_.heed(Arguments{"train", "in.txt", "--out", "whole"} + options + end).code ==
            0);
    CHECK(losses(sandbox_ / "o") == losses(sandbox_ / "whole"));
    CHECK(difference(sandbox_ / "o", sandbox_ / "whole") == "");
  }

  std::string step() const { return state(sandbox_ / "o").at("train.step"); }

 private:
  bool has_checkpoint() const { return sandbox_.has_file("o/checkpoint.safetensors"); }

  static Arguments command(bool resume) {
    return Arguments{"-n", "4", HEED_BINARY_DIR "/heed_mpi"} +
           (resume ? Arguments{"train", "--resume"} : Arguments{"train", "in.txt"} + options) +
           Arguments{"--out", "o", "--threads", "1", "--steps", "1000000000"};
  }

  static std::vector<pid_t> started_ranks(pid_t mpirun) {
    for (int tries = 0; tries < 2000; ++tries) {
      const std::vector<pid_t> ranks = children_of(mpirun);
      if (ranks.size() == 4) return ranks;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    FAIL("mpirun has not started four ranks");
    return {};
  }

  Sandbox sandbox_;
  std::mt19937 random_;
  int stuck_ = 0, named_ = 0, late_ = 0, named_late_ = 0;
};

void kill_ranks(int times, unsigned seed) {
  KilledRun run(seed);
  double longest = 0;
  for (int i = 0; i < times; ++i) longest = std::max(longest, run.kill_once());
  std::cout << "mpirun: " << times << " ranks killed, all ranks ended after at most " << longest
            << " s; mpirun named " << run.named() << " of them and did not end itself "
            << run.stuck() << " times; " << run.named_late() << " of " << run.late()
            << " ranks killed after a step were named; the last checkpoint is of step "
            << run.step() << "\n";
  CHECK(run.stuck() <= times / 5);
  CHECK(run.late() > 0);
  CHECK(2 * run.named_late() >= run.late());
  run.check_equals_uninterrupted();
}

}  // namespace

TEST_CASE("ranks of mpirun that are killed end the run, whose checkpoint stays whole",
          "[commands][mpi][.][many_processes]") {
  if (has_mpi()) kill_ranks(6, 1);
}

TEST_CASE("a hundred ranks of mpirun are killed without a hang or a damaged checkpoint",
          "[commands][mpi][.][hundred_kills]") {
  if (has_mpi()) kill_ranks(100, 2);
}
#endif
