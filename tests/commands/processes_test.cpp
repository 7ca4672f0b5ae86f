// processes_test.cpp: heed train in several processes: the same bits, and no hang when one fails.

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <random>
#include <thread>

#include "base/machine.hpp"
#include "catch.hpp"
#include "commands/heed_program.hpp"

using namespace heed_test;

namespace {

const Arguments sharded_run = {"--layers",       "1",   "--embed-dim",   "16", "--heads",      "2",
                               "--block-size",   "16",  "--batch-size",  "8",  "--shards",     "4",
                               "--eval-batches", "3",   "--decay-steps", "50", "--eval-every", "7",
                               "--dropout",      "0.1", "--log-every",   "2",  "--warmup",     "4"};
const Arguments endless_training = {"--steps", "1000000000"};

Arguments train(const std::string& out, const Arguments& more) {
  return Arguments{"train", "in.txt", "--out", out} + sharded_run + more;
}

void check_same_run(const Sandbox& sandbox, const std::string& a, const std::string& b) {
  CHECK(losses(sandbox / a) == losses(sandbox / b));
  CHECK(difference(sandbox / a, sandbox / b) == "");
  CHECK(content(sandbox / (a + "/sample.txt")) == content(sandbox / (b + "/sample.txt")));
}

#ifdef __linux__
// The ranks of a running heed, in their order: the child processes of their parent process.
std::vector<pid_t> ranks_of(pid_t parent, std::size_t count) {
  for (int tries = 0; tries < 2000; ++tries) {
    const std::string id = std::to_string(parent);
    std::ifstream file("/proc/" + id + "/task/" + id + "/children");
    std::vector<pid_t> ranks;
    for (pid_t rank; file >> rank;) ranks.push_back(rank);
    if (ranks.size() == count) return ranks;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  FAIL("the ranks have not started");
  return {};
}

// Whether the process is running: a zombie has ended.
bool still_runs(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  return !text.empty() && text.compare(text.rfind(')') + 2, 1, "Z") != 0;
}

bool all_end(const std::vector<pid_t>& processes) {
  for (int tries = 0; tries < 2000; ++tries) {
    bool running = false;
    for (const pid_t process : processes) running = running || still_runs(process);
    if (!running) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}
#endif

}  // namespace

TEST_CASE("any number of processes and threads writes the same run", "[commands][processes]") {
  const Sandbox sandbox;
  const auto start = [&](const std::string& out, const Arguments& more) {
    REQUIRE(sandbox.heed(train(out, more + Arguments{"--steps", "20"})).code == 0);
  };
  start("one", {"--threads", "1"});
  start("one2", {"--threads", "2"});
  start("two", {"--processes", "2", "--threads", "2"});
  start("four", {"--processes", "4", "--threads", "1"});
  start("zero", {"--processes", "4", "--threads", "2", "--zero"});
  start("late", {"--processes", "2", "--no-overlap", "--threads", "1"});
  for (const char* other : {"one2", "two", "four", "zero", "late"}) {
    INFO(other);
    check_same_run(sandbox, "one", other);
  }
}

TEST_CASE("a run saved by four processes and resumed by others equals the uninterrupted run",
          "[commands][processes]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train("whole", {"--steps", "24"})).code == 0);
  REQUIRE(sandbox.heed(train("parts", {"--steps", "9", "--processes", "4"})).code == 0);
  const auto resume = [&](const std::string& steps, const Arguments& more) {
    CHECK(sandbox.heed(Arguments{"train", "--resume", "--out", "parts", "--steps", steps} + more)
              .code == 0);
  };
  resume("13", {});
  resume("18", {"--processes", "2", "--zero"});
  resume("24", {"--processes", "4"});
  check_same_run(sandbox, "whole", "parts");
}

TEST_CASE("a run of eight shards that four processes saved can be resumed by eight",
          "[commands][processes]") {
  const Sandbox sandbox;
  const auto train_eight = [&](const std::string& out, const Arguments& more) {
    Arguments words = train(out, more);
    *(std::find(words.begin(), words.end(), "--shards") + 1) = "8";
    REQUIRE(sandbox.heed(words).code == 0);
  };
  train_eight("whole", {"--steps", "6"});
  train_eight("parts", {"--steps", "3", "--processes", "4"});
  REQUIRE(sandbox
              .heed({"train", "--resume", "--out", "parts", "--steps", "6", "--processes", "8",
                     "--threads", "1"})
              .code == 0);
  check_same_run(sandbox, "whole", "parts");
}

TEST_CASE("all ranks train on the text that rank 0 reads from standard input",
          "[commands][processes]") {
  const Sandbox sandbox;
  const auto from_input = [&](const std::string& out, const Arguments& more) {
    Arguments arguments = train(out, more + Arguments{"--steps", "5"});
    arguments[1] = "-";
    REQUIRE(sandbox.heed(arguments, Sandbox::story()).code == 0);
  };
  from_input("one", {});
  from_input("two", {"--processes", "2"});
  check_same_run(sandbox, "one", "two");
}

TEST_CASE("each process has an equal part of the cores, OMP_NUM_THREADS or --threads",
          "[commands][processes]") {
  const Sandbox sandbox;
  const auto threads = [&](const char* variable, const Arguments& more) {
    Call call =
        sandbox.call(train("o", more + Arguments{"--processes", "2", "--steps", "1", "--replace"}));
    call.environment["OMP_NUM_THREADS"] = variable;
    if (*variable == '\0')
      call.arguments = Arguments{"/usr/bin/env", "-u", "OMP_NUM_THREADS"} + call.arguments;
    const std::string out = run(call).out;
    const std::string before = " tokens, on 2 processes of ";
    REQUIRE(has(out, before));
    return std::stoi(out.substr(out.find(before) + before.size()));
  };
  CHECK(threads("", {}) == std::max(1, heed::usable_cores() / 2));
  CHECK(threads("1", {}) == 1);
  CHECK(threads("", {"--threads", "3"}) == 3);
  CHECK(threads("1", {"--threads", "3"}) == 3);
}

TEST_CASE("one shard is the run without --shards", "[commands][processes]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  REQUIRE(sandbox.heed(Arguments{"train", "in.txt", "--out", "one", "--shards", "1"} + tiny).code ==
          0);
  check_same_run(sandbox, "o", "one");
}

TEST_CASE("processes and shards that do not fit are rejected in one line with code 2",
          "[commands][processes]") {
  const Sandbox sandbox;
  const auto rejected = [&](const Arguments& more) {
    const Finished run = sandbox.heed(Arguments{"train", "in.txt", "--out", "o"} + more);
    CHECK(run.code == 2);
    CHECK_FALSE(sandbox.has_file("o"));
    return run.err;
  };
  CHECK(rejected({"--processes", "3"}) == "heed: error: --processes 3: must be a power of two\n");
  CHECK(rejected({"--shards", "3"}) == "heed: error: --shards 3: must be a power of two\n");
  CHECK(rejected({"--shards", "8"}) ==
        "heed: error: --shards 8 does not divide --batch-size 12; give a --batch-size that is a "
        "multiple\n");
  CHECK(rejected({"--processes", "4", "--shards", "2"}) ==
        "heed: error: --processes 4: is more than --shards 2, and each process needs a shard; give "
        "--shards 4 or fewer processes\n");
  Call crowded = sandbox.call(train("o", {"--processes", "2"}));
  crowded.environment["OMP_NUM_THREADS"] = "1024";
  const Finished run = heed_test::run(crowded);
  CHECK(run.code == 2);
  CHECK(run.err.find("heed: error: OMP_NUM_THREADS 1024 is too large for 2 ranks on ") == 0);
  CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
}

TEST_CASE("several processes are rejected if OpenMP would bind them all to the same cores",
          "[commands][processes]") {
  const Sandbox sandbox;
  Call call = sandbox.call(train("o", {"--processes", "2"}));
  call.environment["OMP_PROC_BIND"] = "true";
  const Finished run = heed_test::run(call);
  CHECK(run.code == 2);
  CHECK(run.err ==
        "heed: error: OMP_PROC_BIND, OMP_PLACES or GOMP_CPU_AFFINITY binds the threads of all 2 "
        "ranks to the same cores; unset it, or let mpirun bind each rank to other cores\n");
  CHECK_FALSE(sandbox.has_file("o"));
}

TEST_CASE("an error that all ranks find is printed once", "[commands][processes]") {
  const Sandbox sandbox;
  CHECK(sandbox.heed({"train", "nothing.txt", "--processes", "4", "--shards", "4"}).err ==
        "heed: error: nothing.txt: No such file or directory\n");
  const Finished nan = sandbox.heed(
      train("o", {"--processes", "4", "--steps", "50", "--lr", "1e20", "--clip", "0"}));
  CHECK(nan.code == 1);
  CHECK(nan.err.find("heed: error: the loss is ") == 0);
  CHECK(nan.err.find("try a smaller --lr") != nan.err.npos);
  CHECK(std::count(nan.err.begin(), nan.err.end(), '\n') == 1);
}

TEST_CASE("rank 0 prints the table of HEED_TRACE=time once", "[commands][processes]") {
  const Sandbox sandbox;
  Call call = sandbox.call(train("o", {"--processes", "2", "--steps", "3"}));
  call.environment["HEED_TRACE"] = "time";
  const Finished timed = run(call);
  CHECK(timed.code == 0);
  CHECK(timed.err.find("HEED_TRACE=time: 6 backward passes, milliseconds per pass\n") !=
        timed.err.npos);
  CHECK(timed.err.find("\nLinear ") != timed.err.npos);
  CHECK(timed.err.find("HEED_TRACE=time") == timed.err.rfind("HEED_TRACE=time"));
}

TEST_CASE("a full disk ends all ranks with one error", "[commands][processes]") {
  const Sandbox sandbox;
  Call call = sandbox.call({});
  std::string line = "ulimit -f 8; exec " HEED_BINARY_DIR "/heed";  // files of at most 4 or 8 KB
  for (const std::string& word : train("o", {"--processes", "4", "--steps", "1000"}))
    line += " " + word;
  call.arguments = {"/bin/sh", "-c", line};
  const Finished full = run(call);
  CHECK(full.code == 1);
  CHECK(full.err.find("heed: error: o/checkpoint.safetensors: ") == 0);
  CHECK(std::count(full.err.begin(), full.err.end(), '\n') == 1);
}

#ifdef __linux__
TEST_CASE("only rank 0 has files of the run open", "[commands][processes]") {
  const Sandbox sandbox;
  Child child(sandbox.call(train("o", Arguments{"--processes", "4"} + endless_training)));
  child.read_until("\nstep ");
  const auto open_files = [&](pid_t process) {
    std::size_t files = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/fd")) {
      std::error_code closed;  // since the listing
      const auto file = std::filesystem::read_symlink(entry, closed);
      files += has(file.string(), (sandbox / "o/").string()) ? 1 : 0;
    }
    return files;
  };
  const std::vector<pid_t> ranks = ranks_of(child.process(), 4);
  CHECK(open_files(ranks[0]) > 0);
  for (int tries = 0; tries < 50; ++tries)
    for (std::size_t rank = 1; rank < 4; ++rank) CHECK(open_files(ranks[rank]) == 0);
}

TEST_CASE("a signal to any process stops all ranks after the same step", "[commands][processes]") {
  const Sandbox sandbox;
  // The process, of which 4 is the parent of the others, and the signal that it gets.
  const std::vector<std::pair<std::size_t, int>> signals = {
      {0, SIGINT}, {1, SIGTERM}, {3, SIGHUP}, {4, SIGINT}, {4, SIGHUP}};
  for (const auto& [target, signal] : signals) {
    const std::string out = "o" + std::to_string(target) + "_" + std::to_string(signal);
    Child child(sandbox.call(train(out, Arguments{"--processes", "4"} + endless_training)));
    child.read_until("\nstep ");
    const std::vector<pid_t> ranks = ranks_of(child.process(), 4);
    kill(target == 4 ? child.process() : ranks[target], signal);
    const Finished stopped = child.finish();
    const std::string step = state(sandbox / out).at("train.step");
    CHECK(stopped.code == 128 + signal);
    CHECK(stopped.err == "heed: interrupted after step " + step +
                             ", all saved; to resume: ./heed train in.txt --resume --out " + out +
                             "\n");
    CHECK(all_end(ranks));
    REQUIRE(sandbox.heed(train("whole", {"--steps", step, "--replace"})).code == 0);
    CHECK(state(sandbox / out)["tensor token.weight"] ==
          state(sandbox / "whole")["tensor token.weight"]);
  }
}

TEST_CASE("a killed rank is named, all others end, and the checkpoint stays whole",
          "[commands][processes]") {
  const Sandbox sandbox;
  std::mt19937 random(7);
  for (int i = 0; i < 12; ++i) {
    const Arguments resume =
        i == 0 ? train("o", endless_training) : Arguments{"train", "--resume", "--out", "o"};
    Child child(sandbox.call(resume + Arguments{"--processes", "4"}));
    const std::vector<pid_t> ranks = ranks_of(child.process(), 4);
    child.read_until("\nstep ");
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 60));
    const std::size_t target = random() % 4;
    kill(ranks[target], SIGKILL);
    const Finished killed = child.finish();
    CHECK(killed.code == 1);
    CHECK(killed.err ==
          "heed: error: rank " + std::to_string(target) + " (process " +
              std::to_string(ranks[target]) +
              ") was killed by signal 9 (Killed); all ranks have stopped; --resume "
              "continues from the last checkpoint, if one was saved; if memory was short, give "
              "fewer --processes\n");
    CHECK(all_end(ranks));
    if (sandbox.has_file("o/checkpoint.safetensors")) CHECK_FALSE(state(sandbox / "o").empty());
    if (!sandbox.has_file("o/checkpoint.safetensors")) std::filesystem::remove_all(sandbox / "o");
    if (!sandbox.has_file("o")) i = -1;  // nothing was saved yet: start again
  }
}

// A program that ignores SIGCHLD passes this on to the programs that it starts, as this test does.
TEST_CASE("a run whose parent process ignores SIGCHLD ends, and names a killed rank",
          "[commands][processes]") {
  const Sandbox sandbox;
  const auto ignoring = [&](const Arguments& words) {
    ::signal(SIGCHLD, SIG_IGN);
    auto child = std::make_unique<Child>(sandbox.call(words + Arguments{"--processes", "2"}));
    ::signal(SIGCHLD, SIG_DFL);
    return child;
  };
  CHECK(ignoring(train("o", {"--steps", "3"}))->finish().code == 0);
  const auto child = ignoring(train("p", endless_training));
  child->read_until("\nstep ");
  kill(ranks_of(child->process(), 2)[1], SIGKILL);
  const Finished killed = child->finish();
  CHECK(killed.code == 1);
  CHECK(killed.err.find("heed: error: rank 1 (process ") == 0);
}

// Rank 3 does not run when the signal to stop comes, so the others wait for it until it is killed.
TEST_CASE("a rank that is killed while the run stops is named", "[commands][processes]") {
  const Sandbox sandbox;
  for (const int signal : {SIGTERM, SIGINT}) {
    Child child(
        sandbox.call(train("o", Arguments{"--processes", "4", "--replace"} + endless_training)));
    child.read_until("\nstep ");
    const std::vector<pid_t> ranks = ranks_of(child.process(), 4);
    kill(ranks[3], SIGSTOP);
    kill(child.process(), signal);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the ranks have seen the signal
    kill(ranks[3], SIGKILL);
    const Finished killed = child.finish();
    CHECK(killed.code == 1);
    CHECK(killed.err.find("heed: error: rank 3 (process " + std::to_string(ranks[3]) +
                          ") was killed by signal 9 (Killed); all ranks have stopped") == 0);
    CHECK(all_end(ranks));
  }
}

TEST_CASE("the ranks end when their parent process is killed", "[commands][processes]") {
  const Sandbox sandbox;
  Child child(sandbox.call(train("o", Arguments{"--processes", "4"} + endless_training)));
  child.read_until("\nstep ");
  const std::vector<pid_t> ranks = ranks_of(child.process(), 4);
  child.kill(SIGKILL);
  CHECK(all_end(ranks));
  CHECK(child.finish().code == 128 + SIGKILL);
}
#endif
