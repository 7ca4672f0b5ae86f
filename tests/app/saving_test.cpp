// saving_test.cpp: the program is killed while it saves, over and over, and loses nothing.

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>
#include <thread>

#include "app/heed_program.hpp"
#include "catch.hpp"

using namespace heed_test;

namespace {

namespace fs = std::filesystem;

// Saves after every step, which takes longer than the step.
const Words ever_saving = {"--layers",     "1", "--embed-dim",  "32", "--heads",        "2",
                           "--block-size", "4", "--batch-size", "1",  "--eval-batches", "1",
                           "--eval-every", "1", "--log-every",  "1",  "--steps",        "1000000",
                           "--threads",    "1"};

std::vector<std::string> temporaries(const fs::path& run) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(run))
    if (has(entry.path().filename().string(), ".tmp-")) names.push_back(entry.path().string());
  return names;
}

// The last step that the program said it had done, and so had saved.
long last_said(const std::string& out) {
  const std::size_t end = out.rfind("  train ");
  const std::size_t begin = out.rfind("step ", end) + 5;
  return std::stol(out.substr(begin, end - begin));
}

struct Count {
  int tried = 0, readable = 0, mid_save = 0, kept = 0, cleared = 0;
};

using Random = std::mt19937;

void wait_up_to(int microseconds, Random& random) {
  std::this_thread::sleep_for(
      std::chrono::microseconds(std::uniform_int_distribution<>(0, microseconds)(random)));
}

// Until the child has begun to save.
void wait_for_temporary(const Desk& desk, const Child& child) {
  const fs::path temporary =
      desk.path / ("o/.checkpoint.safetensors.tmp-" + std::to_string(child.process()));
  const auto start = std::chrono::steady_clock::now();
  while (!fs::exists(temporary) &&
         std::chrono::steady_clock::now() - start < std::chrono::seconds(1))
    continue;
}

// Goes on where the killed one stopped. Of four, three are killed at some moment of a save, and one
// at some moment of anything.
void kill_once(const Desk& desk, Random& random, Count& count) {
  const std::vector<std::string> stale = temporaries(desk / "o");
  Child child(desk.call({"train", "--resume", "--out", "o"}));
  child.until("  train ");
  const bool cleared = std::none_of(stale.begin(), stale.end(),
                                    [](const std::string& name) { return fs::exists(name); });
  wait_up_to(5000, random);
  if (count.tried % 4 != 0) {
    wait_for_temporary(desk, child);
    wait_up_to(500, random);
  }
  child.kill(SIGKILL);
  const Finished killed = child.finish();
  const Finished inspected = desk.heed({"inspect", "o"});
  const bool readable = inspected.code == 0 && has(inspected.out, "checksum right");
  ++count.tried;
  count.readable += readable;
  count.mid_save += !temporaries(desk / "o").empty();
  count.cleared += cleared;
  count.kept += readable && std::stol(state(desk / "o").at("train.step")) >= last_said(killed.out);
  if (killed.code != 137) FAIL_CHECK("ended by itself: " << killed.err);
}

Count kills(int times, unsigned seed) {
  const Desk desk;
  Random random(seed);
  Count count;
  Child first(desk.call(Words{"train", "in.txt", "--out", "o"} + ever_saving));
  first.until("  train ");
  first.kill(SIGKILL);
  first.finish();
  while (count.tried < times) kill_once(desk, random, count);
  Child last(desk.call({"train", "--resume", "--out", "o"}));
  last.until("  train ");
  last.kill(SIGINT);
  CHECK(last.finish().code == 130);
  CHECK(temporaries(desk / "o").empty());
  std::cout << "kills: " << count.tried << " tried, " << count.readable << " readable; "
            << count.mid_save << " left a temporary, " << count.cleared
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

TEST_CASE("twenty runs killed while they save leave twenty readable checkpoints", "[app][saving]") {
  check(kills(20, std::random_device()()));
}

TEST_CASE("a thousand runs killed while they save leave a thousand readable checkpoints",
          "[app][.][faults]") {
  const Count count = kills(1000, std::random_device()());
  check(count);
  CHECK(count.mid_save > 50);  // else the kills fell elsewhere, and show little
}
