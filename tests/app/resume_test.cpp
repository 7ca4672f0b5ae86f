// resume_test.cpp: a run that was stopped and goes on is the run that was never stopped.

#include "app/heed_program.hpp"
#include "catch.hpp"

using namespace heed_test;

namespace {

const std::string endless_steps = "1000000000";

// A run that is not done before it is stopped, with dropout and a rate that falls.
const Words endless = {
    "--layers",     "1",           "--embed-dim",   "16",   "--heads",        "2",
    "--block-size", "16",          "--batch-size",  "2",    "--dropout",      "0.1",
    "--eval-every", "300",         "--log-every",   "100",  "--warmup",       "5",
    "--steps",      endless_steps, "--decay-steps", "1000", "--eval-batches", "1"};

// Stops it at some step after the first.
Finished interrupted(const Call& call, int signal) {
  Child child(call);
  child.until("\nstep ");
  child.kill(signal);
  return child.finish();
}

int step_of(const std::filesystem::path& run) { return std::stoi(state(run).at("train.step")); }

}  // namespace

TEST_CASE("a run interrupted three times and resumed is the uninterrupted one, bit for bit",
          "[app][resume]") {
  const Desk desk;
  const Call resume = desk.call({"train", "--resume", "--out", "o"});
  CHECK(interrupted(desk.call(Words{"train", "in.txt", "--out", "o"} + endless), SIGINT).code ==
        130);
  const int first = step_of(desk / "o");
  CHECK(first > 0);
  CHECK(interrupted(resume, SIGTERM).code == 143);
  const int second = step_of(desk / "o");
  CHECK(second > first);
  CHECK(interrupted(resume, SIGHUP).code == 129);
  CHECK(step_of(desk / "o") > second);
  const std::string steps = std::to_string(step_of(desk / "o") + 5);
  REQUIRE(desk.heed({"train", "--resume", "--out", "o", "--steps", steps}).code == 0);
  Words whole = Words{"train", "in.txt", "--out", "whole", "--threads", "1"} + endless;
  std::replace(whole.begin(), whole.end(), endless_steps, steps);
  REQUIRE(desk.heed(whole).code == 0);
  CHECK(losses(desk / "o") == losses(desk / "whole"));
  CHECK(difference(desk / "o", desk / "whole") == "");
  CHECK(content(desk / "o/sample.txt") == content(desk / "whole/sample.txt"));
}

TEST_CASE("an interrupted run says how to resume, in words a shell takes", "[app][resume]") {
  const Desk desk;
  put(desk / "it's my text.txt", Desk::story());
  const Finished stopped = interrupted(
      desk.call(Words{"train", "it's my text.txt", "--out", "the run"} + endless), SIGINT);
  const int step = step_of(desk / "the run");
  const std::string command = "./heed train 'it'\\''s my text.txt' --resume --out 'the run'";
  CHECK(stopped.code == 130);
  CHECK(stopped.err == "heed: interrupted after step " + std::to_string(step) +
                           ", all saved; to resume: " + command + "\n");
  std::filesystem::create_symlink(HEED_BINARY_DIR "/heed", desk / "heed");
  Call typed = desk.call({});
  typed.words = {"/bin/sh", "-c", "exec " + command};
  const Finished again = interrupted(typed, SIGINT);
  CHECK(has(again.out, "text   it's my text.txt: "));
  CHECK(again.code == 130);
  CHECK(step_of(desk / "the run") > step);
}

TEST_CASE("a second interrupt ends the program at once, and what was saved stays",
          "[app][resume]") {
  const Desk desk;
  REQUIRE(desk.heed(train_tiny).code == 0);
  Child child(desk.call({"train", "--resume", "--out", "o", "--steps", endless_steps}));
  child.until("\nstep ");
  child.kill(SIGINT);
  child.kill(SIGINT);
  CHECK(child.finish().code == 130);
  CHECK(step_of(desk / "o") >= 20);
}

TEST_CASE("a finished run goes on when it is given more steps, and only then", "[app][resume]") {
  const Desk desk;
  REQUIRE(desk.heed(train_tiny).code == 0);
  const std::string before = content(desk / "o/loss.csv");
  const Finished no_more = desk.heed({"train", "--resume", "--out", "o"});
  CHECK(no_more.code == 2);
  CHECK(no_more.err ==
        "heed: error: --steps 20: the run in o has done that many already; give more to go on\n");
  REQUIRE(desk.heed({"train", "--resume", "--out", "o", "--steps", "30"}).code == 0);
  CHECK(step_of(desk / "o") == 30);
  CHECK(content(desk / "o/loss.csv").substr(0, before.rfind("\n20,")) ==
        before.substr(0, before.rfind("\n20,")));
  CHECK(state(desk / "o").at("train.decay_steps") == "0");  // it is --steps, whatever that is
}

TEST_CASE("a run, and as many steps again, are the run of twice the steps, with standard options",
          "[app][resume]") {
  const Desk desk;  // the standard rate rises for 100 steps
  const Words rest = {"--layers", "1", "--embed-dim", "16", "--heads", "2", "--block-size", "16"};
  const auto begun = [&](const std::string& out, const std::string& steps, const Words& more) {
    REQUIRE(
        desk.heed(Words{"train", "in.txt", "--out", out, "--steps", steps} + rest + more).code ==
        0);
  };
  const auto resumed = [&](const Words& more) {
    const Finished run = desk.heed(Words{"train", "--resume", "--out", "o"} + more);
    REQUIRE(run.code == 0);
    return run.err;
  };
  const auto check_same = [&] {
    CHECK(losses(desk / "o") == losses(desk / "whole"));
    CHECK(difference(desk / "o", desk / "whole") == "");
    CHECK(content(desk / "o/sample.txt") == content(desk / "whole/sample.txt"));
  };
  begun("o", "100", {});
  CHECK_FALSE(has(resumed({"--steps", "200", "--threads", "3"}), "learning rate"));
  begun("whole", "200", {});
  check_same();
  begun("o", "37", {"--warmup", "5", "--decay-steps", "74"});
  CHECK_FALSE(has(resumed({"--steps", "74"}), "learning rate"));
  begun("whole", "74", {"--warmup", "5", "--decay-steps", "74"});
  check_same();
  begun("o", "37", {"--warmup", "5"});
  CHECK_FALSE(has(resumed({"--steps", "74", "--decay-steps", "37"}), "learning rate"));
  begun("whole", "74", {"--warmup", "5", "--decay-steps", "37"});
  check_same();
}

TEST_CASE("a resumed run whose rate falls for longer than it was to says so", "[app][resume]") {
  const Desk desk;
  REQUIRE(desk.heed(train_tiny + Words{"--warmup", "5"}).code == 0);
  const Finished more = desk.heed({"train", "--resume", "--out", "o", "--steps", "30"});
  CHECK(more.code == 0);
  CHECK(has(more.err,
            "heed: note: the learning rate was to fall until step 20 and now falls until step 30, "
            "so this is not the run that would have done so from its start; --decay-steps 20 "
            "leaves it as it was\n"));
  const Finished below =
      desk.heed({"train", "--resume", "--out", "o", "--steps", "40", "--decay-steps", "5"});
  CHECK(below.code == 2);
  CHECK(below.err == "heed: error: --decay-steps 5 must be above the run's --warmup 5\n");
}

TEST_CASE("resuming with several other options names them all", "[app][resume]") {
  const Desk desk;
  REQUIRE(desk.heed(train_tiny).code == 0);
  const Finished run = desk.heed({"train", "--resume", "--out", "o", "--steps", "30", "--lr", "0.5",
                                  "--bytes", "--heads", "4", "--clip", "1"});
  CHECK(run.code == 2);
  CHECK(run.err ==
        "heed: error: --bytes given differs from the checkpoint's not given, --heads 4 from its 2, "
        "--lr 0.5 from its 0.001 in o/checkpoint.safetensors; leave them out to resume, or leave "
        "out --resume to begin anew\n");
}

TEST_CASE("resuming with another value of any option names it and both values", "[app][resume]") {
  const Desk desk;
  REQUIRE(desk.heed(train_tiny + Words{"--decay-steps", "200"}).code == 0);
  const std::string saved = content(desk / "o/checkpoint.safetensors");
  const std::string rest =
      " in o/checkpoint.safetensors; leave it out to resume, or leave out --resume to begin anew\n";
  const std::vector<std::vector<std::string>> options = {
      {"--block-size", "8", "16"},    {"--layers", "2", "1"},
      {"--heads", "4", "2"},          {"--embed-dim", "32", "16"},
      {"--dropout", "0.5", "0"},      {"--batch-size", "5", "12"},
      {"--lr", "0.5", "0.001"},       {"--min-lr", "0.0005", "1e-04"},
      {"--warmup", "3", "100"},       {"--decay-steps", "300", "200"},
      {"--weight-decay", "0", "0.1"}, {"--beta1", "0.5", "0.9"},
      {"--beta2", "0.5", "0.99"},     {"--clip", "2", "1"},
      {"--seed", "1", "1337"},        {"--eval-every", "9", "250"},
      {"--eval-batches", "2", "1"},   {"--log-every", "5", "10"}};
  for (const auto& option : options) {
    const Finished run = desk.heed(
        {"train", "in.txt", "--resume", "--out", "o", "--steps", "30", option[0], option[1]});
    CHECK(run.code == 2);
    CHECK((run.err == "heed: error: " + option[0] + " " +
                          (option[1] == "0.0005" ? "5e-04" : option[1]) +
                          " differs from the checkpoint's " + option[2] + rest));
  }
  const Finished bytes = desk.heed({"train", "--resume", "--out", "o", "--steps=30", "--bytes"});
  CHECK(bytes.code == 2);
  CHECK(bytes.err == "heed: error: --bytes given differs from the checkpoint's not given" + rest);
  CHECK(content(desk / "o/checkpoint.safetensors") == saved);
}

TEST_CASE("resuming with the same options as before is no other value", "[app][resume]") {
  const Desk desk;
  Words words = train_tiny;
  *(std::find(words.begin(), words.end(), "--steps") + 1) = "30";
  REQUIRE(desk.heed(train_tiny).code == 0);
  CHECK(desk.heed(words + Words{"--resume", "--lr", "1e-3", "--min-lr=0.0001"}).code == 0);
}

TEST_CASE("resuming with another text is refused, and nothing is written", "[app][resume]") {
  const Desk desk;
  REQUIRE(desk.heed(train_tiny).code == 0);
  const std::string saved = content(desk / "o/checkpoint.safetensors");
  std::string transposed = Desk::story();
  std::reverse(transposed.begin(), transposed.end());
  put(desk / "turned.txt", transposed);
  put(desk / "other.txt", transposed + "!");
  const auto resumed_with = [&](const char* text) {
    return desk.heed({"train", text, "--resume", "--out", "o", "--steps", "30"});
  };
  const Finished other = resumed_with("other.txt"), same_symbols = resumed_with("turned.txt");
  CHECK(other.code == 1);
  CHECK(other.err ==
        "heed: error: other.txt: its vocabulary is not the one in o/checkpoint.safetensors; resume "
        "with the text the run began with\n");
  CHECK(same_symbols.code == 1);
  CHECK(same_symbols.err ==
        "heed: error: turned.txt: is not the text the run in o/checkpoint.safetensors began with, "
        "though its vocabulary is the same; resume with that one\n");
  CHECK(content(desk / "o/checkpoint.safetensors") == saved);
}

TEST_CASE("resuming what is not there, or is damaged, is refused in one line", "[app][resume]") {
  const Desk desk;
  const Finished missing = desk.heed({"train", "in.txt", "--resume", "--out", "o"});
  CHECK(missing.code == 1);
  CHECK(missing.err == "heed: error: o/checkpoint.safetensors: No such file or directory\n");
  CHECK_FALSE(desk.has_file("o"));
  REQUIRE(desk.heed(train_tiny).code == 0);
  const std::string half = content(desk / "o/checkpoint.safetensors").substr(0, 9000);
  put(desk / "o/checkpoint.safetensors", half);
  const Finished cut = desk.heed({"train", "--resume", "--out", "o", "--steps", "30"});
  CHECK(cut.code == 1);
  CHECK(has(cut.err, "heed: error: o/checkpoint.safetensors: truncated"));
  CHECK(content(desk / "o/checkpoint.safetensors") == half);
}
