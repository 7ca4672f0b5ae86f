// resume_test.cpp: a resumed run equals the uninterrupted run, bit for bit.

#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "commands/train/options.hpp"

using namespace heed_test;

namespace {

const std::string endless_steps = "1000000000";

// A run that does not end by itself, with dropout and a decaying learning rate.
const Arguments endless = {
    "--layers",     "1",           "--embed-dim",   "16",   "--heads",        "2",
    "--block-size", "16",          "--batch-size",  "2",    "--dropout",      "0.1",
    "--eval-every", "300",         "--log-every",   "100",  "--warmup",       "5",
    "--steps",      endless_steps, "--decay-steps", "1000", "--eval-batches", "1"};

// Runs heed and sends it the signal after the first step.
Finished interrupted(const Call& call, int signal) {
  Child child(call);
  child.read_until("\nstep ");
  child.kill(signal);
  return child.finish();
}

int step_of(const std::filesystem::path& run) { return std::stoi(state(run).at("train.step")); }

}  // namespace

TEST_CASE("a run interrupted three times equals the uninterrupted run, bit for bit",
          "[commands][resume]") {
  const Sandbox sandbox;
  const Call resume = sandbox.call({"train", "--resume", "--out", "o"});
  CHECK(interrupted(sandbox.call(Arguments{"train", "in.txt", "--out", "o"} + endless), SIGINT)
            .code == 130);
  const int first = step_of(sandbox / "o");
  CHECK(first > 0);
  CHECK(interrupted(resume, SIGTERM).code == 143);
  const int second = step_of(sandbox / "o");
  CHECK(second > first);
  CHECK(interrupted(resume, SIGHUP).code == 129);
  CHECK(step_of(sandbox / "o") > second);
  const std::string steps = std::to_string(step_of(sandbox / "o") + 5);
  REQUIRE(sandbox.heed({"train", "--resume", "--out", "o", "--steps", steps}).code == 0);
  Arguments whole = Arguments{"train", "in.txt", "--out", "whole", "--threads", "1"} + endless;
  std::replace(whole.begin(), whole.end(), endless_steps, steps);
  REQUIRE(sandbox.heed(whole).code == 0);
  CHECK(losses(sandbox / "o") == losses(sandbox / "whole"));
  CHECK(difference(sandbox / "o", sandbox / "whole") == "");
  CHECK(content(sandbox / "o/sample.txt") == content(sandbox / "whole/sample.txt"));
}

TEST_CASE("a run that ended before it wrote its sample writes it when resumed",
          "[commands][resume]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const std::string sample = content(sandbox / "o/sample.txt");
  const std::string checkpoint = content(sandbox / "o/checkpoint.safetensors");
  REQUIRE(std::filesystem::remove(sandbox / "o/sample.txt"));
  CHECK(sandbox.heed({"train", "--resume", "--out", "o"}).code == 0);
  CHECK(content(sandbox / "o/sample.txt") == sample);
  CHECK(content(sandbox / "o/checkpoint.safetensors") == checkpoint);
}

TEST_CASE("a run whose sample is older than its checkpoint writes it when resumed",
          "[commands][resume]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const std::string sample = content(sandbox / "o/sample.txt");
  put(sandbox / "o/sample.txt", "of fewer steps");  // as after a kill of a run with more steps
  using namespace std::chrono_literals;
  std::filesystem::last_write_time(
      sandbox / "o/sample.txt",
      std::filesystem::last_write_time(sandbox / "o/checkpoint.safetensors") - 1s);
  CHECK(sandbox.heed({"train", "--resume", "--out", "o"}).code == 0);
  CHECK(content(sandbox / "o/sample.txt") == sample);
  CHECK(sandbox.heed({"train", "--resume", "--out", "o"}).code == 2);
}

TEST_CASE("an interrupted run prints a shell command that resumes it", "[commands][resume]") {
  const Sandbox sandbox;
  put(sandbox / "it's my text.txt", Sandbox::story());
  const Finished stopped = interrupted(
      sandbox.call(Arguments{"train", "it's my text.txt", "--out", "the run"} + endless), SIGINT);
  const int step = step_of(sandbox / "the run");
  const std::string command = "./heed train 'it'\\''s my text.txt' --resume --out 'the run'";
  CHECK(stopped.code == 130);
  CHECK(stopped.err == "heed: interrupted after step " + std::to_string(step) +
                           ", all saved; to resume: " + command + "\n");
  std::filesystem::create_symlink(HEED_BINARY_DIR "/heed", sandbox / "heed");
  Call resume = sandbox.call({});
  resume.arguments = {"/bin/sh", "-c", "exec " + command};
  const Finished again = interrupted(resume, SIGINT);
  CHECK(has(again.out, "text   it's my text.txt: "));
  CHECK(again.code == 130);
  CHECK(step_of(sandbox / "the run") > step);
}

TEST_CASE("a second interrupt ends the program at once and keeps the saved files",
          "[commands][resume]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  Child child(sandbox.call({"train", "--resume", "--out", "o", "--steps", endless_steps}));
  child.read_until("\nstep ");
  child.kill(SIGINT);
  child.kill(SIGINT);
  CHECK(child.finish().code == 130);
  CHECK(step_of(sandbox / "o") >= 20);
}

TEST_CASE("a finished run can be resumed only with more steps", "[commands][resume]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const std::string before = content(sandbox / "o/loss.csv");
  const Finished no_more = sandbox.heed({"train", "--resume", "--out", "o"});
  CHECK(no_more.code == 2);
  CHECK(no_more.err ==
        "heed: error: --steps 20: the run in o has done them already; give a larger --steps\n");
  REQUIRE(sandbox.heed({"train", "--resume", "--out", "o", "--steps", "30"}).code == 0);
  CHECK(step_of(sandbox / "o") == 30);
  CHECK(content(sandbox / "o/loss.csv").substr(0, before.rfind("\n20,")) ==
        before.substr(0, before.rfind("\n20,")));
  CHECK(state(sandbox / "o").at("train.decay_steps") == "0");  // 0: equal to --steps
}

TEST_CASE(
    "a run resumed for as many steps again equals a run of twice the steps, with default options",
    "[commands][resume]") {
  const Sandbox sandbox;  // the default warm-up has 100 steps
  const Arguments rest = {"--layers", "1", "--embed-dim",  "16",
                          "--heads",  "2", "--block-size", "16"};
  const auto start = [&](const std::string& out, const std::string& steps, const Arguments& more) {
    REQUIRE(sandbox
                .heed(Arguments{"train", "in.txt", "--out", out, "--replace", "--steps", steps} +
                      rest + more)
                .code == 0);
  };
  const auto notes_of_resumed = [&](const Arguments& more) {
    const Finished run = sandbox.heed(Arguments{"train", "--resume", "--out", "o"} + more);
    REQUIRE(run.code == 0);
    return run.err;
  };
  const auto check_equal = [&] {
    CHECK(losses(sandbox / "o") == losses(sandbox / "whole"));
    CHECK(difference(sandbox / "o", sandbox / "whole") == "");
    CHECK(content(sandbox / "o/sample.txt") == content(sandbox / "whole/sample.txt"));
  };
  start("o", "100", {});
  CHECK_FALSE(has(notes_of_resumed({"--steps", "200", "--threads", "3"}), "learning rate"));
  start("whole", "200", {});
  check_equal();
  start("o", "37", {"--warmup", "5", "--decay-steps", "74"});
  CHECK_FALSE(has(notes_of_resumed({"--steps", "74"}), "learning rate"));
  start("whole", "74", {"--warmup", "5", "--decay-steps", "74"});
  check_equal();
  start("o", "37", {"--warmup", "5"});
  CHECK_FALSE(has(notes_of_resumed({"--steps", "74", "--decay-steps", "37"}), "learning rate"));
  start("whole", "74", {"--warmup", "5", "--decay-steps", "37"});
  check_equal();
}

TEST_CASE("a resumed run notes that its learning rate decays for longer", "[commands][resume]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny + Arguments{"--warmup", "5"}).code == 0);
  const Finished more = sandbox.heed({"train", "--resume", "--out", "o", "--steps", "30"});
  CHECK(more.code == 0);
  CHECK(has(more.err,
            "heed: note: the learning rate decayed until step 20 and now decays until step 30, so "
            "the result differs from an uninterrupted run; --decay-steps 20 keeps the saved "
            "schedule\n"));
  const Finished below =
      sandbox.heed({"train", "--resume", "--out", "o", "--steps", "40", "--decay-steps", "5"});
  CHECK(below.code == 2);
  CHECK(below.err == "heed: error: --decay-steps 5 must be above the run's --warmup 5\n");
}

TEST_CASE("resuming with several changed flags names them all", "[commands][resume]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const Finished run = sandbox.heed({"train", "--resume", "--out", "o", "--steps", "30", "--lr",
                                     "0.5", "--bytes", "--heads", "4", "--clip", "1"});
  CHECK(run.code == 2);
  CHECK(run.err ==
        "heed: error: --bytes given differs from the checkpoint's not given, --heads 4 from its 2, "
        "--lr 0.5 from its 0.001 in o/checkpoint.safetensors; leave them out to resume, or leave "
        "out --resume to start a new run\n");
  CHECK(has(sandbox.heed({"train", "--resume", "--out", "o", "--lr", "0.5"}).err,
            "to start a new run, with --init o from these weights\n"));
}

TEST_CASE("resuming with another value of any flag names it and both values",
          "[commands][resume]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny + Arguments{"--decay-steps", "200"}).code == 0);
  const std::string saved = content(sandbox / "o/checkpoint.safetensors");
  const std::string rest =
      " in o/checkpoint.safetensors; leave it out to resume, or leave out --resume to start a new "
      "run";
  const std::vector<std::vector<std::string>> options = {
      {"--block-size", "8", "16"},    {"--layers", "2", "1"},
      {"--heads", "4", "2"},          {"--embed-dim", "32", "16"},
      {"--dropout", "0.5", "0"},      {"--batch-size", "5", "12"},
      {"--lr", "0.5", "0.001"},       {"--min-lr", "0.0005", "1e-04"},
      {"--warmup", "3", "100"},       {"--decay-steps", "300", "200"},
      {"--weight-decay", "0", "0.1"}, {"--beta1", "0.5", "0.9"},
      {"--beta2", "0.5", "0.99"},     {"--clip", "2", "1"},
      {"--seed", "1", "1337"},        {"--eval-every", "9", "250"},
      {"--eval-batches", "2", "1"},   {"--log-every", "5", "10"},
      {"--norm", "rms", "layer"},     {"--positions", "rotary", "learned"},
      {"--mlp", "swiglu", "gelu"},    {"--kv-heads", "1", "2"},
      {"--head-dim", "4", "8"},       {"--intermediate-size", "5", "64"},
      {"--shards", "2", "1"}};
  for (const auto& option : options) {
    const Finished run = sandbox.heed(
        {"train", "in.txt", "--resume", "--out", "o", "--steps", "30", option[0], option[1]});
    CHECK(run.code == 2);
    CHECK((run.err == "heed: error: " + option[0] + " " +
                          (option[1] == "0.0005" ? "5e-04" : option[1]) +
                          " differs from the checkpoint's " + option[2] + rest +
                          (heed::app::flags_of_model.count(option[0]) != 0
                               ? "\n"
                               : ", with --init o from these weights\n")));
  }
  const Finished bytes = sandbox.heed({"train", "--resume", "--out", "o", "--steps=30", "--bytes"});
  CHECK(bytes.code == 2);
  CHECK(bytes.err ==
        "heed: error: --bytes given differs from the checkpoint's not given" + rest + "\n");
  CHECK(content(sandbox / "o/checkpoint.safetensors") == saved);
}

TEST_CASE("resuming with the same values as before is accepted", "[commands][resume]") {
  const Sandbox sandbox;
  Arguments arguments = train_tiny;
  *(std::find(arguments.begin(), arguments.end(), "--steps") + 1) = "30";
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  CHECK(sandbox.heed(arguments + Arguments{"--resume", "--lr", "1e-3", "--min-lr=0.0001"}).code ==
        0);
}

TEST_CASE("resuming with another text is rejected, and nothing is written", "[commands][resume]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const std::string saved = content(sandbox / "o/checkpoint.safetensors");
  std::string reversed = Sandbox::story();
  std::reverse(reversed.begin(), reversed.end());
  put(sandbox / "reordered.txt", reversed);
  put(sandbox / "other.txt", reversed + "!");
  const auto resumed_with = [&](const char* text) {
    return sandbox.heed({"train", text, "--resume", "--out", "o", "--steps", "30"});
  };
  const Finished other = resumed_with("other.txt"), reordered = resumed_with("reordered.txt");
  CHECK(other.code == 1);
  CHECK(other.err ==
        "heed: error: other.txt: its vocabulary is not the one in o/checkpoint.safetensors; resume "
        "with the text of that run\n");
  CHECK(reordered.code == 1);
  CHECK(reordered.err ==
        "heed: error: reordered.txt: differs from the text of the run in o/checkpoint.safetensors, "
        "though its vocabulary is the same; resume with the text of that run\n");
  CHECK(content(sandbox / "o/checkpoint.safetensors") == saved);
}

TEST_CASE("resuming without the text that the run was trained on says whose text is missing",
          "[commands][resume]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  std::filesystem::rename(sandbox / "in.txt", sandbox / "moved.txt");
  const Finished missing = sandbox.heed({"train", "--resume", "--out", "o", "--steps", "30"});
  CHECK(missing.code == 1);
  CHECK(missing.err ==
        "heed: error: in.txt: No such file or directory; the run in o was trained on this text: "
        "give its new path, as in ./heed train PATH --resume --out o\n");
  CHECK(has(sandbox.heed({"look", "o"}).err,
            "in.txt: No such file or directory, the text of this run; give --text\n"));
  const Finished typed = sandbox.heed({"train", "in.txt", "--resume", "--out", "o"});
  CHECK(typed.err == "heed: error: in.txt: No such file or directory\n");
  CHECK(sandbox.heed({"train", "moved.txt", "--resume", "--out", "o", "--steps", "30"}).code == 0);
}

TEST_CASE("a run from standard input asks for the same text again", "[commands][resume]") {
  const Sandbox sandbox;
  const Finished stopped = interrupted(
      sandbox.call(Arguments{"train", "-", "--out", "o"} + endless, Sandbox::story()), SIGINT);
  CHECK(has(stopped.err,
            "all saved; to resume, pipe the same text again to ./heed train - --resume --out o\n"));
  const Finished empty = sandbox.heed({"train", "--resume", "--out", "o"});
  CHECK(empty.err ==
        "heed: error: standard input: is empty; pipe the text of the run in o again\n");
  const std::string steps = std::to_string(step_of(sandbox / "o") + 5);
  CHECK(
      sandbox.heed({"train", "--resume", "--out", "o", "--steps", steps}, Sandbox::story()).code ==
      0);
}

TEST_CASE("resuming a missing or damaged checkpoint is rejected in one line",
          "[commands][resume]") {
  const Sandbox sandbox;
  const Finished missing = sandbox.heed({"train", "in.txt", "--resume", "--out", "o"});
  CHECK(missing.code == 1);
  CHECK(missing.err == "heed: error: o/checkpoint.safetensors: No such file or directory\n");
  CHECK_FALSE(sandbox.has_file("o"));
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const std::string half = content(sandbox / "o/checkpoint.safetensors").substr(0, 9000);
  put(sandbox / "o/checkpoint.safetensors", half);
  const Finished cut = sandbox.heed({"train", "--resume", "--out", "o", "--steps", "30"});
  CHECK(cut.code == 1);
  CHECK(has(cut.err, "heed: error: o/checkpoint.safetensors: truncated"));
  CHECK(content(sandbox / "o/checkpoint.safetensors") == half);
}
