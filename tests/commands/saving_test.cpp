// saving_test.cpp: killing the program while it saves does not damage the checkpoint.

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>
#include <thread>

#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "commands/run_folder.hpp"

using namespace heed_test;

namespace {

namespace fs = std::filesystem;

// Options with which the program saves most of the time, because it saves after every step.
const Arguments save_every_step = {
    "--layers",     "1",       "--embed-dim",    "32", "--heads",      "2", "--block-size", "4",
    "--batch-size", "1",       "--eval-batches", "1",  "--eval-every", "1", "--log-every",  "1",
    "--steps",      "1000000", "--threads",      "1"};

std::vector<std::string> temporaries(const fs::path& run) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(run))
    if (has(entry.path().filename().string(), ".tmp-")) names.push_back(entry.path().string());
  return names;
}

// The last step in the output. `heed train` prints a step after saving it.
long last_printed_step(const std::string& out) {
  const std::size_t end = out.rfind("  train ");
  const std::size_t begin = out.rfind("step ", end) + 5;
  return std::stol(out.substr(begin, end - begin));
}

struct Count {
  int tried = 0, readable = 0, during_save = 0, kept = 0, cleared = 0;
};

using Random = std::mt19937;

void wait_up_to(int microseconds, Random& random) {
  std::this_thread::sleep_for(
      std::chrono::microseconds(std::uniform_int_distribution<>(0, microseconds)(random)));
}

// Waits until the child starts to save.
void wait_for_temporary(const Sandbox& sandbox, const Child& child) {
  const fs::path temporary =
      sandbox.path / ("o/.checkpoint.safetensors.tmp-" + std::to_string(child.process()));
  const auto start = std::chrono::steady_clock::now();
  while (!fs::exists(temporary) &&
         std::chrono::steady_clock::now() - start < std::chrono::seconds(1))
    continue;
}

// Resumes the run and kills it: three times out of four during a save, else at any time.
void kill_once(const Sandbox& sandbox, Random& random, Count& count) {
  const std::vector<std::string> stale = temporaries(sandbox / "o");
  Child child(sandbox.call({"train", "--resume", "--out", "o"}));
  child.read_until("  train ");
  const bool cleared = std::none_of(stale.begin(), stale.end(),
                                    [](const std::string& name) { return fs::exists(name); });
  wait_up_to(5000, random);
  if (count.tried % 4 != 0) {
    wait_for_temporary(sandbox, child);
    wait_up_to(500, random);
  }
  child.kill(SIGKILL);
  const Finished killed = child.finish();
  const Finished inspected = sandbox.heed({"inspect", "o"});
  const bool readable = inspected.code == 0 && has(inspected.out, "checksum right");
  ++count.tried;
  count.readable += readable;
  count.during_save += !temporaries(sandbox / "o").empty();
  count.cleared += cleared;
  count.kept +=
      readable && std::stol(state(sandbox / "o").at("train.step")) >= last_printed_step(killed.out);
  if (killed.code != 137) FAIL_CHECK("ended by itself: " << killed.err);
}

Count kills(int times, unsigned seed) {
  const Sandbox sandbox;
  Random random(seed);
  Count count;
  Child first(sandbox.call(Arguments{"train", "in.txt", "--out", "o"} + save_every_step));
  first.read_until("  train ");
  first.kill(SIGKILL);
  first.finish();
  while (count.tried < times) kill_once(sandbox, random, count);
  Child last(sandbox.call({"train", "--resume", "--out", "o"}));
  last.read_until("  train ");
  last.kill(SIGINT);
  CHECK(last.finish().code == 130);
  CHECK(temporaries(sandbox / "o").empty());
  std::cout << "kills: " << count.tried << " tried, " << count.readable << " readable; "
            << count.during_save << " left a temporary, " << count.cleared
            << " starts found none or removed it, " << count.kept
            << " had the last step printed (seed " << seed << ")" << std::endl;
  return count;
}

void check(const Count& count) {
  CHECK(count.readable == count.tried);
  CHECK(count.cleared == count.tried);
  CHECK(count.kept == count.tried);
}

}  // namespace

TEST_CASE("a run killed twenty times leaves readable checkpoints", "[commands][saving]") {
  check(kills(20, std::random_device()()));
}

TEST_CASE("a run killed a thousand times leaves readable checkpoints", "[commands][.][faults]") {
  const Count count = kills(1000, std::random_device()());
  check(count);
  CHECK(count.during_save > 50);  // otherwise the kills missed the saves
}

TEST_CASE("a step is in the history before it is in the checkpoint, so that no kill leaves a hole",
          "[commands][saving]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny + Arguments{"--keep-history", "--eval-every", "10"}).code == 0);
  const Arguments more = {"train", "--resume", "--out", "o", "--steps", "40", "--keep-history"};
  fs::create_directories(sandbox / "o/history/step-30.safetensors/full");  // ends the run there
  const Finished stopped = sandbox.heed(more);
  INFO(stopped.err);
  CHECK(stopped.code == 1);
  CHECK(has(stopped.err, "step-30.safetensors: "));
  CHECK(state(sandbox / "o").at("train.step") == "20");
  fs::remove_all(sandbox / "o/history/step-30.safetensors");
  REQUIRE(sandbox.heed(more).code == 0);
  for (const std::string step : {"0", "10", "20", "30", "40"})
    CHECK(sandbox.has_file("o/history/step-" + step + ".safetensors"));
}

TEST_CASE("a resumed run keeps the history that it has", "[commands][saving]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny + Arguments{"--keep-history", "--eval-every", "10"}).code == 0);
  REQUIRE(sandbox.heed({"train", "--resume", "--out", "o", "--steps", "40"}).code == 0);
  for (const std::string name : {"step-007", "step--1", "step-5x", "step-"})
    put(sandbox / ("o/history/" + name + ".safetensors"), "not a model of heed's");
  CHECK((heed::app::RunFolder{sandbox / "o"}.history().steps() ==
         std::vector<std::int64_t>{0, 10, 20, 30, 40}));
  REQUIRE(sandbox.heed(train_tiny + Arguments{"--replace"}).code == 0);
  REQUIRE(sandbox.heed({"train", "--resume", "--out", "o", "--steps", "40"}).code == 0);
  CHECK(heed::app::RunFolder{sandbox / "o"}.history().steps().empty());
}

TEST_CASE("models of a run that was killed before its first checkpoint are replaced with --replace",
          "[commands][saving]") {
  const Sandbox sandbox;
  const Arguments keep = train_tiny + Arguments{"--keep-history"};
  REQUIRE(sandbox.heed(keep).code == 0);
  std::filesystem::remove(sandbox / "o/checkpoint.safetensors");
  const Finished rejected = sandbox.heed(keep);
  CHECK(rejected.code == 1);
  CHECK(rejected.err ==
        "heed: error: o/history: has the models of a run that ended before its first checkpoint; "
        "--replace replaces them, another --out keeps them\n");
  CHECK(sandbox.heed(keep + Arguments{"--replace"}).code == 0);
}

TEST_CASE("a history behind a symbolic link is rejected and kept", "[commands][saving]") {
  const Sandbox sandbox;
  std::filesystem::create_directory(sandbox / "o");
  std::filesystem::create_directory(sandbox / "elsewhere");
  put(sandbox / "elsewhere/step-20.safetensors", "mine");
  std::filesystem::create_directory_symlink("../elsewhere", sandbox / "o/history");
  const Finished rejected = sandbox.heed(train_tiny + Arguments{"--replace"});
  CHECK(rejected.code == 1);
  CHECK(rejected.err ==
        "heed: error: o/history: is a symbolic link, and heed writes no file through a link; "
        "remove the link\n");
  CHECK(content(sandbox / "elsewhere/step-20.safetensors") == "mine");
}

TEST_CASE("a resumed run removes what killed runs left of its plots and its history",
          "[commands][saving]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny + Arguments{"--keep-history"}).code == 0);
  const std::string stale = ".tmp-2147483647";  // no process has this ID
  for (const std::string name : {".loss.svg", ".loss.gp", "history/.step-20.safetensors"})
    put(sandbox / ("o/" + name + stale), "half of a file");
  put(sandbox / "o/history/.notes", "a file of the user's own");
  REQUIRE(sandbox.heed({"train", "--resume", "--out", "o", "--steps", "24"}).code == 0);
  CHECK(temporaries(sandbox / "o").empty());
  CHECK(temporaries(sandbox / "o/history").empty());
  CHECK(sandbox.has_file("o/history/.notes"));
}
