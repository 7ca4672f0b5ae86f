// interruptions_test.cpp: runs stopped at random moments by every signal, and what becomes of them.

#include <chrono>
#include <iostream>
#include <random>
#include <thread>

#include "app/heed_program.hpp"
#include "catch.hpp"

using namespace heed_test;

namespace {

const Words learner = {"--layers",       "1",  "--embed-dim",  "16", "--heads",      "2",
                       "--block-size",   "16", "--batch-size", "2",  "--dropout",    "0.1",
                       "--warmup",       "5",  "--log-every",  "30", "--eval-every", "100",
                       "--eval-batches", "2"};

// A run of so many steps, and the same run with interruptions, on 1 to 4 threads.
class Interrupted {
 public:
  Interrupted(int steps, unsigned seed) : steps_(steps), random_(seed) {
    start_ = Words{"train", "in.txt", "--steps", std::to_string(steps)} + learner;
    REQUIRE(desk_.heed(start_ + Words{"--out", "whole", "--threads", "1"}).code == 0);
  }

  // How often it was interrupted until it came to its end.
  int run() {
    std::filesystem::remove_all(desk_ / "o");
    int interruptions = 0;
    while (!is_done()) interruptions += stopped() ? 1 : 0;
    return interruptions;
  }
  bool is_the_whole() const {
    return losses(desk_ / "o") == losses(desk_ / "whole") &&
           difference(desk_ / "o", desk_ / "whole") == "";
  }

 private:
  bool has_checkpoint() const { return desk_.has_file("o/checkpoint.safetensors"); }
  bool is_done() const {
    return has_checkpoint() && state(desk_ / "o").at("train.step") == std::to_string(steps_);
  }
  int draw(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }

  // Starts it, or goes on with it, and stops it after a while, unless it ends before.
  bool stopped() {
    const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGKILL, SIGKILL};
    const int signal = signals[draw(0, 4)];
    const Words words = has_checkpoint() ? Words{"train", "--resume"} : start_;
    Child child(desk_.call(words + Words{"--out", "o", "--threads", std::to_string(draw(1, 4))}));
    std::this_thread::sleep_for(std::chrono::milliseconds(draw(10, 150)));
    child.kill(signal);
    const Finished finished = child.finish();
    INFO(finished.err);
    if (finished.code != 0) CHECK(finished.code == 128 + signal);
    return finished.code != 0;
  }

  Desk desk_;
  int steps_;
  std::mt19937 random_;
  Words start_;
};

void interrupt(int times, int steps, unsigned seed) {
  Interrupted runs(steps, seed);
  int tried = 0, identical = 0;
  while (tried < times) {
    const int interruptions = runs.run();
    tried += interruptions;
    if (runs.is_the_whole()) identical += interruptions;
  }
  std::cout << "resume: " << tried << " interruptions tried, " << identical
            << " bit-identical (seed " << seed << ")\n";
  CHECK(identical == tried);
}

}  // namespace

TEST_CASE("a run stopped at random moments, kill -9 among them, is the run that was not",
          "[app][resume]") {
  interrupt(6, 1500, 1);
}

TEST_CASE("many runs stopped at random moments are the runs that were not",
          "[app][resume][.][interruptions]") {
  interrupt(100, 6000, 2);
}
