// signals_test.cpp: signals and closed pipes at different times of a training run.

#include <chrono>
#include <csignal>
#include <iostream>
#include <map>
#include <thread>

#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "commands/terminal.hpp"

using namespace heed_test;

namespace {

// A model whose steps take some hundredths of a second.
const Arguments slow = {"train",     "in.txt", "--out",          "o", "--layers",     "2",
                        "--steps",   "9",      "--eval-batches", "1", "--batch-size", "32",
                        "--threads", "1"};

void wait_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

std::string step_of(const Sandbox& sandbox) { return state(sandbox / "o").at("train.step"); }

// Resumes the run to its end and compares it with an uninterrupted run.
void check_resumed(const Sandbox& sandbox, Arguments arguments) {
  REQUIRE(sandbox.heed({"train", "--resume", "--out", "o"}).code == 0);
  *(std::find(arguments.begin(), arguments.end(), "--out") + 1) = "whole";
  REQUIRE(sandbox.heed(arguments).code == 0);
  CHECK(losses(sandbox / "o") == losses(sandbox / "whole"));
  CHECK(difference(sandbox / "o", sandbox / "whole") == "");
}

}  // namespace

TEST_CASE("a run stopped by a signal at any time resumes bit for bit", "[commands][signals]") {
  const Sandbox sandbox;
  const Arguments arguments = train_tiny + Arguments{"--log-every=1", "--eval-every=5"};
  Arguments whole = arguments;
  *(std::find(whole.begin(), whole.end(), "--out") + 1) = "whole";
  REQUIRE(sandbox.heed(whole).code == 0);
  int sent = 0, survived = 0;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    for (const char* output : {"text ", "run ", "\nstep  1 ", "\nstep  4 ", "\nstep 12 "}) {
      std::filesystem::remove_all(sandbox / "o");
      Child child(sandbox.call(arguments));
      child.read_until(output);
      child.kill(signal);
      const Finished stopped = child.finish();
      const bool in_time = stopped.code != 0;  // otherwise the run ended before the signal
      bool good = !in_time || (stopped.code == 128 + signal && has(stopped.err, "all saved; to "));
      if (step_of(sandbox) != "20")
        good &= sandbox.heed({"train", "--resume", "--out", "o"}).code == 0;
      good &= losses(sandbox / "o") == losses(sandbox / "whole");
      good &= difference(sandbox / "o", sandbox / "whole").empty();
      INFO("signal " << signal << " after '" << output << "': " << stopped.err);
      CHECK(good);
      sent += in_time ? 1 : 0;
      survived += in_time && good ? 1 : 0;
    }
  std::cout << "signals: " << sent << " sent, " << survived << " saved and resumed bit for bit\n";
  CHECK(sent > 0);
}

TEST_CASE("a signal in the first step stops the run after that step", "[commands][signals]") {
  const Sandbox sandbox;
  Child child(sandbox.call(slow));
  child.read_until("run    o");
  child.kill(SIGTERM);
  const Finished stopped = child.finish();
  CHECK(stopped.code == 143);
  CHECK(has(stopped.err, "heed: interrupted after step " + step_of(sandbox) + ", all saved; to "));
  check_resumed(sandbox, slow);
}

TEST_CASE("a second interrupt ends the program within the step", "[commands][signals]") {
  const Sandbox sandbox;
  Arguments slower = slow;
  *(std::find(slower.begin(), slower.end(), "--batch-size") + 1) = "2000";
  Child child(sandbox.call(slower));
  child.read_until("run    o");
  child.kill(SIGINT);
  wait_a_little();
  child.kill(SIGINT);
  const Finished stopped = child.finish();
  CHECK(stopped.code == 130);
  CHECK(stopped.err == "");
  CHECK_FALSE(sandbox.has_file("o/checkpoint.safetensors"));
}

TEST_CASE("a signal during a validation stops the run after it", "[commands][signals]") {
  const Sandbox sandbox;
  const Arguments arguments = train_tiny + Arguments{"--log-every=1", "--eval-every=5"};
  Arguments longer = arguments;
  *(std::find(longer.begin(), longer.end(), "--eval-batches") + 1) = "2000";
  Child child(sandbox.call(longer));
  child.read_until("\nstep  4 ");
  wait_a_little();
  child.kill(SIGHUP);
  CHECK(child.finish().code == 129);
  CHECK(step_of(sandbox) == "5");
  check_resumed(sandbox, longer);
}

TEST_CASE("a signal during the final text generation stops it; the run is saved",
          "[commands][signals]") {
  const Sandbox sandbox;
  Child child(sandbox.call(Arguments{"train", "in.txt", "--out", "o", "--layers", "4",
                                     "--embed-dim", "256", "--batch-size", "1", "--steps", "20",
                                     "--eval-batches", "1", "--threads", "1"}));
  child.read_until("\nstep 20 ");
  child.kill(SIGINT);
  const Finished stopped = child.finish();
  CHECK(stopped.code == 130);
  CHECK(stopped.err ==
        "heed: interrupted after step 20, the last step, all saved; to generate text: "
        "./heed sample o\n");
  CHECK(step_of(sandbox) == "20");
  CHECK_FALSE(sandbox.has_file("o/sample.txt"));
  CHECK(sandbox.heed({"sample", "o", "--tokens", "1"}).code == 0);
}

TEST_CASE("a signal during plotting ends the program with the signal's exit code",
          "[commands][signals]") {
  const Sandbox sandbox;
  put(sandbox / "gnuplot", "#!/bin/sh\nkill -TERM $PPID\nexit 1\n");
  std::filesystem::permissions(sandbox / "gnuplot", std::filesystem::perms::owner_all);
  Call call = sandbox.call(train_tiny);
  call.environment = {{"PATH", sandbox.path.string()}};
  const Finished stopped = run(call);
  CHECK(stopped.code == 143);
  CHECK(has(stopped.err, "heed: interrupted after step 20, the last step, all saved; "));
  CHECK(content(sandbox / "o/sample.txt").size() == 501);
}

TEST_CASE("a run under nohup ignores SIGHUP", "[commands][signals]") {
  const Sandbox sandbox;
  Call call = sandbox.call({});
  call.arguments =
      Arguments{"/bin/sh", "-c", "trap '' HUP; exec \"$0\" \"$@\"", HEED_BINARY_DIR "/heed"} + slow;
  Child child(call);
  child.read_until("run    o");
  child.kill(SIGHUP);
  child.read_until("\nstep 1 ");
  child.kill(SIGHUP);
  CHECK(child.finish().code == 0);
  CHECK(step_of(sandbox) == "9");
}

TEST_CASE("a run whose output nobody reads any more is saved and stops", "[commands][signals]") {
  const Sandbox sandbox;
  Arguments arguments = train_tiny + Arguments{"--log-every=1"};
  *(std::find(arguments.begin(), arguments.end(), "--steps") + 1) = "500";
  Child child(sandbox.call(arguments));
  child.read_until("\n");
  child.close_output();
  const Finished stopped = child.finish();
  CHECK(stopped.code == 128 + SIGPIPE);
  CHECK(stopped.err == "heed: nobody reads the output any more: stopped after step " +
                           step_of(sandbox) +
                           ", all saved; to resume: ./heed train in.txt --resume --out o\n");
  check_resumed(sandbox, arguments);
}

TEST_CASE("train | head -1 stops and is saved", "[commands][signals]") {
  const Sandbox sandbox;
  Call call = sandbox.call({});
  call.environment.clear();
  call.arguments =
      Arguments{"/bin/sh", "-c", "\"$0\" \"$@\" | head -n 1", HEED_BINARY_DIR "/heed"} + train_tiny;
  *(std::find(call.arguments.begin(), call.arguments.end(), "--steps") + 1) = "1000000000";
  const Finished stopped = run(call);  // would not end within two minutes
  CHECK(stopped.out.find('\n') == stopped.out.size() - 1);
  CHECK(has(stopped.err, ", all saved; to resume: "));
  CHECK(std::stol(step_of(sandbox)) > 0);
}

TEST_CASE("one interrupt after SIGTERM does not end the program before it has saved",
          "[commands][signals]") {
  const Sandbox sandbox;
  Child child(sandbox.call(slow));
  child.read_until("run    o");
  child.kill(SIGTERM);
  wait_a_little();
  child.kill(SIGINT);
  const Finished stopped = child.finish();
  CHECK(stopped.code == 130);
  CHECK(has(stopped.err, "heed: interrupted after step " + step_of(sandbox) + ", all saved; to "));
}

TEST_CASE("a run with a closed stdout saves when a signal stops it", "[commands][signals]") {
  const Sandbox sandbox;
  Child child(sandbox.call(slow + Arguments{"--log-every", "1"}));
  child.read_until("\nstep 1 ");
  child.close_output();
  child.kill(SIGTERM);
  CHECK(child.finish().code == 143);
  check_resumed(sandbox, slow + Arguments{"--log-every", "1"});
}

TEST_CASE("handlers of signals run on a stack of their own", "[commands][signals]") {
  std::map<int, struct sigaction> before;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
    sigaction(signal, nullptr, &before[signal]);
  heed::app::catch_stop_signals();
  stack_t stack{};
  sigaltstack(nullptr, &stack);
  CHECK(stack.ss_size >= 65536);
  for (const auto& [signal, action] : before) {
    struct sigaction now {};
    sigaction(signal, &action, &now);
    if (now.sa_handler != SIG_IGN) CHECK((now.sa_flags & SA_ONSTACK) != 0);
  }
}
