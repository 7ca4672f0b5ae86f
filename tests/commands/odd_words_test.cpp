// odd_words_test.cpp: invalid command lines are rejected in one line, and nothing is written.

#include <sys/stat.h>

#include <iostream>

#include "catch.hpp"
#include "commands/heed_program.hpp"

using namespace heed_test;

namespace {

struct InvalidCall {
  Arguments arguments;
  int code;
  Arguments messages;  // parts of the error text
};

std::string times(std::size_t count, const std::string& text) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

const std::string integer = "must be a whole number", range = "out of range: " + integer;

// A flag of train with an invalid value, and the beginning of the error text.
const std::vector<std::pair<Arguments, std::string>> values = {
    {{"--steps", "0x10"}, "--steps 0x10: " + integer},
    {{"--steps", "+5"}, "--steps +5: " + integer},
    {{"--steps", " 5"}, "--steps ' 5': " + integer},
    {{"--steps", "5 "}, "--steps '5 ': " + integer},
    {{"--steps", "5abc"}, "--steps 5abc: " + integer},
    {{"--steps", "NaN"}, "--steps NaN: " + integer},
    {{"--steps", "-0"}, "--steps -0: " + range},
    {{"--steps", "0"}, "--steps 0: " + range},
    {{"--steps", "-5"}, "--steps -5: " + range},
    {{"--steps", "1_000"}, "--steps 1_000: " + integer},
    {{"--steps", "1,000"}, "--steps 1,000: " + integer},
    {{"--steps", "1e3"}, "--steps 1e3: " + integer},
    {{"--steps", "2.5"}, "--steps 2.5: " + integer},
    {{"--steps", "1\n2"}, "--steps 1\\n2: " + integer},
    {{"--steps", ""}, "--steps '': " + integer},
    {{"--steps", "\uff15"}, "--steps \uff15: " + integer},
    {{"--steps", "\xe9"}, "--steps \\xe9: " + integer},
    {{"--steps", "\033[31m"}, "--steps \\x1b[31m: " + integer},
    {{"--steps", "99999999999999999999"}, "--steps 99999999999999999999: " + range},
    {{"--steps", times(5000, "9")}, "--steps " + times(59, "9") + "\u2026: " + range},
    {{"--steps", times(50000, "x")}, "--steps " + times(59, "x") + "\u2026: " + integer},
    {{"--lr", "1e400"}, "--lr 1e400: out of range: must be a finite number, above 0"},
    {{"--lr", "1e-400"}, "--lr 1e-400: out of range: must be a finite number, above 0"},
    {{"--lr", "0,5"}, "--lr 0,5: must be a number"},
    {{"--lr", "+1e-3"}, "--lr +1e-3: must be a number"},
    {{"--lr", "0x1p-3"}, "--lr 0x1p-3: must be a number"},
    {{"--lr", "1e-3x"}, "--lr 1e-3x: must be a number"},
    {{"--lr", "fast"}, "--lr fast: must be a number"},
    {{"--lr", "."}, "--lr .: must be a number"},
    {{"--lr", "-"}, "--lr -: must be a number"},
    {{"--lr", "-0"}, "--lr -0: must be above 0"},
    {{"--lr", "nan"}, "--lr nan: must be a finite number, above 0"},
    {{"--lr", "-nan"}, "--lr -nan: must be a finite number, above 0"},
    {{"--lr", "inf"}, "--lr inf: must be a finite number, above 0"},
    {{"--lr", "-1"}, "--lr -1: must be above 0"},
    {{"--dropout", "1"}, "--dropout 1: must be at least 0 and below 1"},
    {{"--dropout", "-0.1"}, "--dropout -0.1: must be at least 0 and below 1"},
    {{"--beta1", "1"}, "--beta1 1: must be at least 0 and below 1"},
    {{"--clip", "-1"}, "--clip -1: must be at least 0"},
    {{"--weight-decay", "-0.1"}, "--weight-decay -0.1: must be at least 0"},
    {{"--min-lr", "1"}, "--min-lr 1: must be at most --lr 0.001"},
    {{"--warmup", "1", "--decay-steps", "1"}, "--decay-steps 1 must be above --warmup 1"},
    {{"--seed", "-1"}, "--seed -1: " + range},
    {{"--seed", "4294967296"}, "--seed 4294967296: " + range},
    {{"--threads", "0"}, "--threads 0: " + range},
    {{"--block-size", "0"}, "--block-size 0: " + range},
    {{"--layers", "0"}, "--layers 0: " + range},
    {{"--embed-dim", "0"}, "--embed-dim 0: " + range},
    {{"--heads", "3", "--embed-dim", "8"}, "--heads 3 does not divide --embed-dim 8"},
    {{"--heads", "1000000000"}, "--heads 1000000000 does not divide --embed-dim 128"},
    {{"--log-every", "0"}, "--log-every 0: " + range},
    {{"--eval-batches", "10000000000"}, "--eval-batches 10000000000: " + range},
    {{"--lr", "--steps", "5"}, "--lr needs a value"},
    {{"--bytes=1"}, "--bytes takes no value"},
    {{"--seed", "2", "--seed", "2"}, "--seed is given twice (2 and 2)"},
    {{"--nosuch", "1"}, "unknown option --nosuch; see --help"},
    {{"--batchsize", "4"}, "unknown option --batchsize; did you mean --batch-size?"},
    {{"--Steps", "4"}, "unknown option --Steps; did you mean --steps?"},
    {{"--a\nb", "4"}, "unknown option --a\\nb; "},
    {{"--" + times(100000, "x")}, "unknown option --" + times(57, "x") + "\u2026; see --help"},
    {{"-s", "5"}, "unknown option -s; "},
    {{"--", "--steps", "5"}, "'--steps' is one argument too many"},
    {{"extra"}, "'extra' is one argument too many"}};

// The error after "heed: error: ", or a description of the failed check.
std::string rejected_word(const Sandbox& sandbox, const Arguments& arguments, int code) {
  const std::size_t before = sandbox.files();
  const Finished run = sandbox.heed(arguments);
  const std::string begin = "heed: error: ";
  if (run.code != code) return "exit code " + std::to_string(run.code) + ": " + run.err;
  if (sandbox.files() != before) return "something was written";
  if (run.err.rfind(begin, 0) != 0 || run.err.back() != '\n') return "not a line: " + run.err;
  for (std::size_t i = 0; i + 1 < run.err.size(); ++i)
    if (static_cast<unsigned char>(run.err[i]) < 0x20) return "more than a line: " + run.err;
  for (const char* inside : {"terminate called", "std::", "heed::", "Assertion", HEED_SOURCE_DIR})
    if (has(run.err, inside)) return "internals: " + run.err;
  if (run.out != "") return "also printed: " + run.out;
  return run.err.substr(begin.size(), run.err.size() - begin.size() - 1);
}

std::size_t count_rejected(const Sandbox& sandbox, const std::vector<InvalidCall>& cases) {
  std::size_t count = 0;
  for (const InvalidCall& call : cases) {
    const std::string error = rejected_word(sandbox, call.arguments, call.code);
    CAPTURE(error.substr(0, 400));
    bool all = true;
    for (const std::string& part : call.messages) {
      CAPTURE(part.substr(0, 100));
      CHECK(has(error, part));
      all = all && has(error, part);
    }
    count += all;
  }
  std::cout << cases.size() << " invalid command lines, " << count << " rejected in one line\n";
  return count;
}

}  // namespace

TEST_CASE("an invalid value of a flag is rejected in one line that shows it",
          "[commands][odd_words]") {
  const Sandbox sandbox;
  std::vector<InvalidCall> cases;
  for (const auto& [arguments, message] : values)
    cases.push_back({Arguments{"train", "in.txt", "--out", "o"} + arguments, 2, {message}});
  CHECK(count_rejected(sandbox, cases) == cases.size());
}

TEST_CASE("invalid commands, files and folders are rejected in one line", "[commands][odd_words]") {
  const Sandbox sandbox;
  REQUIRE(::mkfifo((sandbox / "fifo").c_str(), 0600) == 0);
  std::filesystem::create_symlink("loop", sandbox / "loop");
  std::filesystem::create_symlink("/nonexistent/x", sandbox / "dangling");
  std::filesystem::create_directories(sandbox / "run/checkpoint.safetensors");
  std::filesystem::create_directories(sandbox / "csv/loss.csv");
  const std::string deep_path = times(4000, "x/"), long_name(300, 'x');
  const auto into = [](const std::string& folder) {
    return Arguments{"train", "in.txt", "--out", folder} + tiny;
  };
  const std::vector<InvalidCall> cases = {
      {{"trian", "in.txt"}, 2, {"unknown command 'trian'; did you mean 'train'?"}},
      {{"tr\nain"}, 2, {"unknown command 'tr\\nain'"}},
      {{""}, 2, {"unknown command ''"}},
      {{std::string(100000, 'x')}, 2, {"unknown command 'xxx", "x\u2026'"}},
      {{"--nosuch"}, 2, {"--nosuch"}},
      {{"train", ""}, 2, {"TEXT '': is empty; give a name"}},
      {{"train", "in.txt", "--trust"}, 2, {"--trust", "--resume or --init"}},
      {{"sample"}, 2, {"give a run's folder"}},
      {{"sample", ""}, 2, {"RUN '': is empty; give a name"}},
      {{"sample", "a", "b"}, 2, {"'b' is one argument too many"}},
      {{"inspect"}, 2, {"give a safetensors file"}},
      {{"sample", "o", "--temperature", "nan"},
       2,
       {"--temperature nan: must be a finite number, at least 0"}},
      {{"sample", "o", "--top-k", "0"}, 2, {"--top-k 0: " + range}},
      {{"sample", "o", "--top-k", "-1"}, 2, {"--top-k -1: " + range}},
      {{"sample", "o", "--tokens", "-5"}, 2, {"--tokens -5: " + range}},
      {{"train", "no\nsuch"}, 1, {"no\\nsuch: No such file or directory"}},
      {{"train", "no\xffsuch"}, 1, {"no\\xffsuch: No such file or directory"}},
      {{"train", deep_path}, 1, {": File name too long"}},
      {{"train", "/dev/zero"}, 1, {"/dev/zero: is not a regular file"}},
      {{"train", "."}, 1, {".: is a directory"}},
      {{"sample", "\033[2J"}, 1, {"\\x1b[2J: No such file or directory"}},
      {{"sample", long_name}, 1, {": File name too long"}},
      {{"sample", "fifo"}, 1, {"fifo: not a regular file"}},
      {{"sample", "loop"}, 1, {"loop: Too many levels"}},
      {{"sample", "/dev/zero"}, 1, {"/dev/zero: not a regular file"}},
      {{"sample", "run"}, 1, {"run/checkpoint.safetensors: Is a directory"}},
      {{"inspect", "."}, 1, {"./checkpoint.safetensors: No such file or directory"}},
      {{"inspect", "fifo"}, 1, {"fifo: not a regular file"}},
      {{"train", "--resume", "--out", "none"}, 1, {"none/checkpoint.safetensors: No such file"}},
      {into("dangling"), 1, {"dangling: ", "choose another --out"}},
      {into("loop"), 1, {"loop: ", "choose another --out"}},
      {into("in.txt/o"), 1, {"in.txt/o: Not a directory; choose another --out"}},
      {into("/dev/null"), 1, {"/dev/null: is a file, not a directory"}},
      {into(deep_path), 1, {": File name too long; choose another --out"}},
      {into("csv"), 1, {"csv/loss.csv: is a folder; move it away, or give another name"}}};
  CHECK(count_rejected(sandbox, cases) == cases.size());
}

TEST_CASE("train and sample work in empty and invalid environments", "[commands][odd_words]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const std::string expected = sandbox.heed({"sample", "o", "--tokens", "20"}).out;
  for (const std::string shell :
       {"exec /usr/bin/env -i \"$0\" \"$@\"", "TERM=dumb COLUMNS=0 exec \"$0\" \"$@\"",
        "unset HOME TERM PATH; exec \"$0\" \"$@\"", "LC_ALL=xx LANG=de_DE exec \"$0\" \"$@\"",
        "exec \"$0\" \"$@\" <&-", "exec \"$0\" \"$@\" 2>&-"}) {
    Call call = sandbox.call({});
    call.arguments = {"/bin/sh", "-c", shell,      HEED_BINARY_DIR "/heed",
                      "sample",  "o",  "--tokens", "20"};
    const Finished run = heed_test::run(call);
    CAPTURE(shell, run.err);
    CHECK(run.code == 0);
    CHECK(run.out == expected);
  }
  Call closed = sandbox.call({});
  closed.arguments = Arguments{"/bin/sh",
                               "-c",
                               "exec \"$0\" \"$@\" <&- >&- 2>&-",
                               HEED_BINARY_DIR "/heed",
                               "train",
                               "in.txt",
                               "--out",
                               "n"} +
                     tiny;
  CHECK(heed_test::run(closed).code == 0);
  CHECK(losses(sandbox / "n") == losses(sandbox / "o"));
}
