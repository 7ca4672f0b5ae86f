// interruptions_test.cpp: runs stopped at random times and resumed equal uninterrupted runs, and
// their records can be replayed.

#include <chrono>
#include <iostream>
#include <random>
#include <thread>

#include "catch.hpp"
#include "commands/heed_program.hpp"

using namespace heed_test;

namespace {

const Arguments options = {"--layers",       "1",  "--embed-dim",  "16", "--heads",      "2",
                           "--block-size",   "16", "--batch-size", "2",  "--dropout",    "0.1",
                           "--warmup",       "5",  "--log-every",  "30", "--eval-every", "100",
                           "--eval-batches", "2"};
const Arguments record = {"--record", "300"};

// A run of `steps` steps, and the same run with interruptions, on 1 to 4 threads.
class Interrupted {
 public:
  Interrupted(int steps, unsigned seed) : steps_(steps), random_(seed) {
    start_ = Arguments{"train", "in.txt", "--steps", std::to_string(steps)} + options + record;
    REQUIRE(desk_.heed(start_ + Arguments{"--out", "whole", "--threads", "1"}).code == 0);
  }

  // Runs to the end; returns the number of interruptions.
  int run() {
    std::filesystem::remove_all(desk_ / "o");
    int interruptions = 0;
    while (!is_done()) interruptions += interrupt_once() ? 1 : 0;
    return interruptions;
  }
  bool equals_uninterrupted() const {
    return losses(desk_ / "o") == losses(desk_ / "whole") &&
           difference(desk_ / "o", desk_ / "whole") == "";
  }
  // Whether all steps, computed again, pass through the states that the run has recorded.
  bool is_replayed() const {
    const Finished replayed = desk_.heed({"first", "o", "lr > 1", "--every-step"});
    INFO(replayed.err << replayed.out);
    CHECK(replayed.err == "");
    return has(replayed.out, "no step from 1 to " + std::to_string(steps_));
  }

 private:
  bool has_checkpoint() const { return desk_.has_file("o/checkpoint.safetensors"); }
  bool is_done() const {
    return has_checkpoint() && state(desk_ / "o").at("train.step") == std::to_string(steps_);
  }
  int draw(int min, int max) { return std::uniform_int_distribution<int>(min, max)(random_); }

  // Starts or resumes the run and sends it a signal later. Returns false if the run ended first.
  bool interrupt_once() {
    const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGKILL, SIGKILL};
    const int signal = signals[draw(0, 4)];
    Arguments arguments = has_checkpoint() ? Arguments{"train", "--resume"} + record : start_;
    if (!has_checkpoint() && desk_.has_file("o/record"))  // killed before the first checkpoint
      arguments.push_back("--replace");
    Child child(
        desk_.call(arguments + Arguments{"--out", "o", "--threads", std::to_string(draw(1, 4))}));
    std::this_thread::sleep_for(std::chrono::milliseconds(draw(10, 150)));
    child.kill(signal);
    const Finished finished = child.finish();
    INFO(finished.err);
    if (finished.code != 0) CHECK(finished.code == 128 + signal);
    return finished.code != 0;
  }

  Sandbox desk_;
  int steps_;
  std::mt19937 random_;
  Arguments start_;
};

void interrupt(int times, int steps, unsigned seed) {
  Interrupted runs(steps, seed);
  int tried = 0, identical = 0;
  while (tried < times) {
    const int interruptions = runs.run();
    tried += interruptions;
    if (runs.equals_uninterrupted() && runs.is_replayed()) identical += interruptions;
  }
  std::cout << "resume: " << tried << " interruptions tried, " << identical
            << " bit-identical (seed " << seed << ")\n";
  CHECK(identical == tried);
}

}  // namespace

TEST_CASE("a run stopped at random times, also by kill -9, equals the uninterrupted run",
          "[commands][resume]") {
  interrupt(6, 1500, 1);
}

TEST_CASE("many runs stopped at random times equal the uninterrupted runs",
          "[commands][resume][.][interruptions]") {
  interrupt(100, 6000, 2);
}
