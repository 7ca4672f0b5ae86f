// signals_test.cpp: a signal or a closed pipe at any moment of a run, and what is kept.

#include <chrono>
#include <iostream>
#include <thread>

#include "app/heed_program.hpp"
#include "catch.hpp"

using namespace heed_test;

namespace {

// Steps of some hundredths of a second.
const Words slow = {"train",     "in.txt", "--out",          "o", "--layers",     "2",
                    "--steps",   "9",      "--eval-batches", "1", "--batch-size", "32",
                    "--threads", "1"};

void wait_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

std::string step_of(const Desk& desk) { return state(desk / "o").at("train.step"); }

// Resumed to its end, it is the run that nobody stopped.
void check_rest(const Desk& desk, Words words) {
  REQUIRE(desk.heed({"train", "--resume", "--out", "o"}).code == 0);
  *(std::find(words.begin(), words.end(), "--out") + 1) = "whole";
  REQUIRE(desk.heed(words).code == 0);
  CHECK(losses(desk / "o") == losses(desk / "whole"));
  CHECK(difference(desk / "o", desk / "whole") == "");
}

}  // namespace

TEST_CASE("every signal at every moment leaves a run that goes on as if nothing had been",
          "[app][signals]") {
  const Desk desk;
  const Words words = train_tiny + Words{"--log-every=1", "--eval-every=5"};
  Words whole = words;
  *(std::find(whole.begin(), whole.end(), "--out") + 1) = "whole";
  REQUIRE(desk.heed(whole).code == 0);
  int sent = 0, survived = 0;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    for (const char* moment : {"text ", "run ", "\nstep  1 ", "\nstep  4 ", "\nstep 12 "}) {
      std::filesystem::remove_all(desk / "o");
      Child child(desk.call(words));
      child.until(moment);
      child.kill(signal);
      const Finished stopped = child.finish();
      const bool in_time = stopped.code != 0;  // else it had come to its end before
      bool good = !in_time || (stopped.code == 128 + signal && has(stopped.err, "all saved; to "));
      if (step_of(desk) != "20") good &= desk.heed({"train", "--resume", "--out", "o"}).code == 0;
      good &= losses(desk / "o") == losses(desk / "whole");
      good &= difference(desk / "o", desk / "whole").empty();
      INFO("signal " << signal << " after '" << moment << "': " << stopped.err);
      CHECK(good);
      sent += in_time ? 1 : 0;
      survived += in_time && good ? 1 : 0;
    }
  std::cout << "signals: " << sent << " sent, " << survived << " saved and resumed bit for bit\n";
  CHECK(sent > 0);
}

TEST_CASE("a signal in the first step is heeded after it", "[app][signals]") {
  const Desk desk;
  Child child(desk.call(slow));
  child.until("run    o");
  child.kill(SIGTERM);
  const Finished stopped = child.finish();
  CHECK(stopped.code == 143);
  CHECK(has(stopped.err, "heed: interrupted after step " + step_of(desk) + ", all saved; to "));
  check_rest(desk, slow);
}

TEST_CASE("a second interrupt in one step does not wait for its end", "[app][signals]") {
  const Desk desk;
  Words slower = slow;
  *(std::find(slower.begin(), slower.end(), "--batch-size") + 1) = "2000";
  Child child(desk.call(slower));
  child.until("run    o");
  child.kill(SIGINT);
  wait_a_little();
  child.kill(SIGINT);
  const Finished stopped = child.finish();
  CHECK(stopped.code == 130);
  CHECK(stopped.err == "");
  CHECK_FALSE(desk.has_file("o/checkpoint.safetensors"));
}

TEST_CASE("a signal during an evaluation is heeded after it", "[app][signals]") {
  const Desk desk;
  const Words words = train_tiny + Words{"--log-every=1", "--eval-every=5"};
  Words longer = words;
  *(std::find(longer.begin(), longer.end(), "--eval-batches") + 1) = "400";
  Child child(desk.call(longer));
  child.until("\nstep  4 ");
  wait_a_little();
  child.kill(SIGHUP);
  CHECK(child.finish().code == 129);
  CHECK(step_of(desk) == "5");
  check_rest(desk, longer);
}

TEST_CASE("a signal while the model writes at the end stops that; the run is saved",
          "[app][signals]") {
  const Desk desk;
  Child child(desk.call(Words{"train", "in.txt", "--out", "o", "--layers", "4", "--embed-dim",
                              "256", "--batch-size", "1", "--steps", "20", "--eval-batches", "1",
                              "--threads", "1"}));
  child.until("\nstep 20 ");
  child.kill(SIGINT);
  const Finished stopped = child.finish();
  CHECK(stopped.code == 130);
  CHECK(stopped.err ==
        "heed: interrupted after step 20, the last one, all saved; to let it write: "
        "./heed sample o\n");
  CHECK(step_of(desk) == "20");
  CHECK_FALSE(desk.has_file("o/sample.txt"));
  CHECK(desk.heed({"sample", "o", "--tokens", "1"}).code == 0);
}

TEST_CASE("a signal while the curve is drawn ends the run with its code", "[app][signals]") {
  const Desk desk;
  put(desk / "gnuplot", "#!/bin/sh\nkill -TERM $PPID\nexit 1\n");
  std::filesystem::permissions(desk / "gnuplot", std::filesystem::perms::owner_all);
  Call call = desk.call(train_tiny);
  call.environment = {{"PATH", desk.path.string()}};
  const Finished stopped = run(call);
  CHECK(stopped.code == 143);
  CHECK(has(stopped.err, "heed: interrupted after step 20, the last one, all saved; "));
  CHECK(content(desk / "o/sample.txt").size() == 501);
}

TEST_CASE("under nohup a hangup is nothing to stop for", "[app][signals]") {
  const Desk desk;
  Call call = desk.call({});
  call.words =
      Words{"/bin/sh", "-c", "trap '' HUP; exec \"$0\" \"$@\"", HEED_BINARY_DIR "/heed"} + slow;
  Child child(call);
  child.until("run    o");
  child.kill(SIGHUP);
  child.until("\nstep 1 ");
  child.kill(SIGHUP);
  CHECK(child.finish().code == 0);
  CHECK(step_of(desk) == "9");
}

TEST_CASE("when nobody reads its output a run says so once and goes on to its end",
          "[app][signals]") {
  const Desk desk;
  Child child(desk.call(train_tiny + Words{"--log-every=1"}));
  child.until("\n");
  child.close_output();
  const Finished alone = child.finish();
  CHECK(alone.code == 0);
  CHECK(has(alone.err,
            "heed: note: standard output cannot be written any more; training goes on "
            "in o, an interrupt saves and stops\n"));
  CHECK(alone.err.find("standard output") == alone.err.rfind("standard output"));
  CHECK(step_of(desk) == "20");
  CHECK(content(desk / "o/sample.txt").size() == 501);
}

TEST_CASE("a run that nobody reads any more saves when it is told to stop", "[app][signals]") {
  const Desk desk;
  Child child(desk.call(slow + Words{"--log-every", "1"}));
  child.until("\nstep 1 ");
  child.close_output();
  child.kill(SIGTERM);
  CHECK(child.finish().code == 143);
  check_rest(desk, slow + Words{"--log-every", "1"});
}
