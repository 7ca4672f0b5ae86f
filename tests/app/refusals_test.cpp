// refusals_test.cpp: what cannot be trained is refused in one line, and nothing is written.

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "app/heed_program.hpp"
#include "catch.hpp"
#include "heed/app/run_folder.hpp"
#include "sanitized.hpp"

using namespace heed_test;

namespace {

// Everything under a folder, by name.
std::string listing(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    names.push_back(entry.path().string());
  std::sort(names.begin(), names.end());
  std::string all;
  for (const std::string& name : names) all += name + "\n";
  return all;
}

// What a run with these words is refused with, after "heed: error: "; or what went wrong instead.
std::string refused(const Desk& desk, const Words& words, int code = 1) {
  const std::string before = listing(desk.path);
  const Finished run = desk.heed(words);
  const std::string begin = "heed: error: ";
  if (run.code != code) return "exit code " + std::to_string(run.code) + ": " + run.err;
  if (listing(desk.path) != before) return "files were written: " + listing(desk.path);
  if (run.err.rfind(begin, 0) != 0 || run.err.find('\n') != run.err.size() - 1)
    return "not one line: " + run.err;
  if (run.out != "") return "also printed: " + run.out;
  return run.err.substr(begin.size(), run.err.size() - begin.size() - 1);
}

std::string refused_text(const Desk& desk, const std::string& text, const Words& more = {}) {
  put(desk / "in.txt", text);
  return refused(desk, Words{"train", "in.txt", "--out", "o"} + more);
}

// A run in a shell that was given a limit. OpenBLAS waits for ever for memory for its threads.
Finished limited(const Desk& desk, const std::string& limit, const Words& words) {
  Call call = desk.call({});
  call.words =
      Words{"/bin/sh", "-c", limit + "; exec \"$0\" \"$@\"", HEED_BINARY_DIR "/heed"} + words;
  call.environment["OPENBLAS_NUM_THREADS"] = "1";
  return run(call);
}

// Root may write everywhere: while this lives, a process of root's is nobody's, where it can be.
class Nobody {
 public:
  Nobody() : is_(::geteuid() == 0 && becomes(65534)) {}
  ~Nobody() {
    if (is_ && !becomes(0)) std::abort();
  }
  Nobody(const Nobody&) = delete;
  Nobody& operator=(const Nobody&) = delete;

 private:
#if defined(__linux__)
  static bool becomes(uid_t user) { return ::setresuid(user, user, 0) == 0; }
#else
  static bool becomes(uid_t) { return false; }
#endif
  const bool is_;
};

}  // namespace

TEST_CASE("wrong use is refused in one line with exit code 2 and nothing is written",
          "[app][train][refusals]") {
  const Desk desk;
  const Words train = {"train", "in.txt", "--out", "o"};
  CHECK(refused(desk, train + Words{"--batch-size", "0"}, 2) ==
        "--batch-size 0: out of range: must be a whole number at least 1 and at most 1000000000");
  CHECK(refused(desk, train + Words{"--lr", "nan"}, 2) == "--lr nan: must be above 0");
  CHECK(refused(desk, train + Words{"--out="}, 2) == "--out is given twice (o and ); give it once");
  CHECK(refused(desk, {"train", "in.txt", "--out="}, 2) == "--out '': needs the name of a folder");
  CHECK(refused(desk, train + Words{"--resume", "--steps"}, 2) == "--steps needs a value");
  CHECK(refused(desk, {}, 2) == "no command; use train, sample, look, corpus, inspect or bench, or see --help");
}

TEST_CASE("a text that is not there or not a file is refused in one line and nothing is written",
          "[app][train][refusals]") {
  const Desk desk;
  std::filesystem::create_directory(desk / "folder");
  REQUIRE(::mkfifo((desk / "fifo").c_str(), 0600) == 0);
  std::filesystem::create_symlink("loop", desk / "loop");
  std::filesystem::create_symlink("/dev/null", desk / "null");
  CHECK(refused(desk, {"train", "missing.txt"}) == "missing.txt: No such file or directory");
  CHECK(refused(desk, {"train", "in.txt/x"}) == "in.txt/x: Not a directory");
  CHECK(refused(desk, {"train", "folder"}) == "folder: is a directory; give a text file");
  CHECK(refused(desk, {"train", "fifo"}) ==
        "fifo: is not a regular file; give a text file, or - to read standard input");
  CHECK(refused(desk, {"train", "null"}) == "null: is empty; give a text to learn");
  CHECK(has(refused(desk, {"train", "loop"}), "loop: Too many"));
  CHECK(refused(desk, {"train", "-"}) == "standard input: is empty; give a text to learn");
  if (::geteuid() == 0) return;  // who may read everything
  std::filesystem::permissions(desk / "in.txt", std::filesystem::perms::none);
  CHECK(refused(desk, {"train", "in.txt"}) == "in.txt: Permission denied");
}

TEST_CASE("an empty text is refused in one line and nothing is written", "[app][train][refusals]") {
  const Desk desk;
  CHECK(refused_text(desk, "") == "in.txt: is empty; give a text to learn");
  CHECK(refused_text(desk, "\xef\xbb\xbf") == "in.txt: is empty; give a text to learn");
}

TEST_CASE("a text shorter than the block is refused in one line and nothing is written",
          "[app][train][refusals]") {
  const Desk desk;
  const std::string remedy = "; give a longer text or a smaller --block-size";
  const std::string text = Desk::story();
  CHECK(refused_text(desk, "a") ==
        "in.txt: 1 character leaves 1 for validation, which must be more than --block-size 64" +
            remedy);
  for (const std::string mark : {"", "\xef\xbb\xbf"})  // the note about it waits
    CHECK(
        refused_text(desk, mark + text.substr(0, 120), {"--block-size", "16"}) ==
        "in.txt: 120 characters leave 12 for validation, which must be more than --block-size 16" +
            remedy);
  CHECK(refused_text(desk, text.substr(0, 160), {"--block-size", "16"}) ==
        "in.txt: 160 characters leave 16 for validation, which must be more than --block-size 16" +
            remedy);
  put(desk / "in.txt", text.substr(0, 161));
  CHECK(desk.heed(train_tiny).code == 0);
}

TEST_CASE("a text that is not UTF-8 is refused by the byte, and nothing is written",
          "[app][train][refusals]") {
  const Desk desk;
  const std::string remedy = "; convert the text or use --bytes";
  CHECK(refused_text(desk, "caf\xe9 au lait") == "in.txt: not UTF-8: byte 3 is 0xe9" + remedy);
  CHECK(refused_text(desk, "a\xed\xa0\x80") == "in.txt: not UTF-8: byte 1 is 0xed" + remedy);
  CHECK(refused_text(desk, "caf\xc3") ==
        "in.txt: not UTF-8: the text ends inside the character that begins at byte 3 (0xc3)" +
            remedy);
}

TEST_CASE("a run's folder that cannot be made is refused in one line and nothing is written",
          "[app][train][refusals]") {
  const Desk desk;
  put(desk / "file", "");
  std::filesystem::create_symlink("loop", desk / "loop");
  const auto into = [&](const std::string& folder) {
    return refused(desk, Words{"train", "in.txt", "--out", folder} + tiny);
  };
  CHECK(into("file") == "file: is a file, not a directory; choose another --out");
  CHECK(into("file/run") == "file/run: Not a directory; choose another --out");
  CHECK(has(into("loop"), "loop: "));
  CHECK(into(std::string(300, 'x')) ==
        std::string(300, 'x') + ": File name too long; choose another --out");
  if (::geteuid() == 0) return;  // who may write everywhere
  std::filesystem::create_directory(desk / "locked");
  std::filesystem::permissions(desk / "locked", std::filesystem::perms::owner_read);
  CHECK(into("locked") == "locked: Permission denied; choose another --out");
  CHECK(into("locked/run") == "locked/run: Permission denied; choose another --out");
}

TEST_CASE("a model too large for this machine is refused before any work",
          "[app][train][refusals]") {
  const Desk desk;
  const std::string text =
      refused(desk, {"train", "in.txt", "--out", "o", "--block-size", "100000000"});
  CHECK(text.rfind("--batch-size 12, --block-size 100000000, --layers 4 and --embed-dim 128 need "
                   "about ",
                   0) == 0);
  CHECK(has(text, " GB of memory ("));
  CHECK(has(text, " GB; --block-size "));
  CHECK(has(text, " would fit"));
}

TEST_CASE("a loss that is no number any more ends the run and keeps the last checkpoint",
          "[app][train][refusals]") {
  const Desk desk;
  const Words hot = Words{"train", "in.txt", "--lr", "1e30", "--warmup", "0"} + tiny;
  const Finished anew = desk.heed(hot);
  CHECK(anew.code == 1);
  CHECK(anew.err.rfind("heed: error: the loss is ", 0) == 0);
  CHECK(has(anew.err,
            " in step 2, at learning rate 9.93844e+29 and gradient norm nan; the first gradient to "
            "go wrong is that of token.weight; first, "));
  CHECK(has(anew.err, "; nothing was saved yet; try a smaller --lr than 1e+30\n"));
  CHECK(anew.err.find('\n') == anew.err.size() - 1);
  REQUIRE(desk.heed(train_tiny).code == 0);
  const std::string saved = content(desk / "o/checkpoint.safetensors");
  const Finished over = desk.heed(hot + Words{"--out", "o"});
  CHECK(has(over.err, "; the last checkpoint is as it was; try a smaller --lr than 1e+30\n"));
  const Finished validated = desk.heed(hot + Words{"--out", "o", "--eval-every", "1"});
  CHECK(validated.code == 1);
  CHECK(has(validated.err,
            "heed: error: the validation loss is nan after step 1, at learning rate 1e+30 "));
  CHECK(has(validated.err, "; first, Linear (12, 16, 16) made at src/nn/attention.cpp:"));
  CHECK(has(validated.err, "; the last checkpoint is as it was; try a smaller --lr than 1e+30\n"));
  CHECK(validated.err.find('\n') == validated.err.size() - 1);
  CHECK(content(desk / "o/checkpoint.safetensors") == saved);
}

TEST_CASE("a rate at which nothing can be learnt is found out in its step, with what broke first",
          "[app][train][refusals]") {
  const Desk desk;
  REQUIRE(desk.heed(train_tiny).code == 0);
  const std::string saved = content(desk / "o/checkpoint.safetensors");
  int tried = 0, named = 0;
  for (const char* lr : {"1e6", "1e9", "1e15", "1e20", "1e30", "1e38", "1e300"}) {
    const Finished run = desk.heed(train_tiny + Words{"--warmup", "0", "--lr", lr});
    INFO(lr << ": " << run.err);
    bool all = run.code == 1 && run.err.find('\n') == run.err.size() - 1 &&
               (has(run.err, "; the first gradient to go wrong is that of ") ||
                (has(run.err, "; parameter ") && has(run.err, " is not finite; ")));
    for (const char* part : {"heed: error: the loss is ", " in step ", ", at learning rate ",
                             " and gradient norm ", "; first, ", " made at src/",
                             "; the last checkpoint is as it was; try a smaller --lr than "})
      all &= has(run.err, part);
    all &= content(desk / "o/checkpoint.safetensors") == saved;
    CHECK(all);
    ++tried;
    named += all ? 1 : 0;
  }
  std::cout << "diverged: " << tried << " learning rates tried, " << named
            << " found in their step\n";
}

TEST_CASE("a run's folder that may not be written to is refused, and nothing is written",
          "[app][train][refusals]") {
  const Desk desk;
  using std::filesystem::perms;
  const perms read = perms::owner_read | perms::group_read | perms::others_read;
  const perms enter = perms::owner_exec | perms::group_exec | perms::others_exec;
  std::filesystem::permissions(desk.path, perms::owner_all | read | enter);
  std::filesystem::create_directory(desk / "locked");
  std::filesystem::permissions(desk / "locked", read | enter);
  const heed::app::RunFolder locked(desk / "locked"), inside(desk / "locked/run");
  std::string said, said_inside;
  {
    const Nobody nobody;
    if (::geteuid() == 0) return;
    said = refusal([&] { locked.create(); });
    said_inside = refusal([&] { inside.create(); });
  }
  const std::string remedy = ": Permission denied; choose another --out";
  CHECK(said == (desk / "locked").string() + remedy);
  CHECK(said_inside == (desk / "locked/run").string() + remedy);
  CHECK_FALSE(desk.has_file("locked/run"));
  std::filesystem::permissions(desk / "locked", perms::owner_all);
}

TEST_CASE("a model that memory has no room for is refused in one line with what to make smaller",
          "[app][train][refusals]") {
  const Desk desk;
  if (sanitized || !std::filesystem::exists("/proc/self/statm")) return;
  const Words large = {"train",   "in.txt", "--out",       "o",    "--layers",  "4",
                       "--heads", "2",      "--embed-dim", "1024", "--threads", "1"};
  const Finished finished = limited(desk, "ulimit -v 200000", large);
  CHECK(finished.code == 1);
  CHECK(finished.out == "");
  CHECK(has(finished.err, " and --embed-dim 1024 need about 1.3 GB of memory ("));
  CHECK_FALSE(desk.has_file("o"));
}

TEST_CASE("a disk that takes no more of loss.csv ends the run in one line",
          "[app][train][refusals]") {
  const Desk desk;
  const Finished finished = limited(desk, "ulimit -f 1", train_tiny + Words{"--log-every", "1"});
  CHECK(finished.code == 1);
  CHECK(
      finished.err ==
      "heed: error: o/loss.csv: no space left: the limit on the size of a file (ulimit -f) is 512 "
      "bytes; the last checkpoint is as it was\n");
  CHECK(has(finished.out, "\nstep  1  train "));
  CHECK_FALSE(has(finished.out, "\nstep 20  train "));
  CHECK_FALSE(desk.has_file("o/sample.txt"));
}
