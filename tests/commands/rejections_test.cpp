// rejections_test.cpp: invalid texts, folders and options are rejected, and nothing is written.

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "commands/run_folder.hpp"
#include "commands/run_replacement.hpp"
#include "sanitized.hpp"

using namespace heed_test;

namespace {

// The names of all files under a folder, sorted.
std::string listing(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    names.push_back(entry.path().string());
  std::sort(names.begin(), names.end());
  std::string all;
  for (const std::string& name : names) all += name + "\n";
  return all;
}

// The error of heed after "heed: error: ", or a description of the failed check.
std::string rejection_of(const Sandbox& sandbox, const Arguments& arguments, int code = 1) {
  const std::string before = listing(sandbox.path);
  const Finished run = sandbox.heed(arguments);
  const std::string begin = "heed: error: ";
  if (run.code != code) return "exit code " + std::to_string(run.code) + ": " + run.err;
  if (listing(sandbox.path) != before) return "files were written: " + listing(sandbox.path);
  if (run.err.rfind(begin, 0) != 0 || run.err.find('\n') != run.err.size() - 1)
    return "not one line: " + run.err;
  if (run.out != "") return "also printed: " + run.out;
  return run.err.substr(begin.size(), run.err.size() - begin.size() - 1);
}

std::string rejected_text(const Sandbox& sandbox, const std::string& text,
                          const Arguments& more = {}) {
  put(sandbox / "in.txt", text);
  return rejection_of(sandbox, Arguments{"train", "in.txt", "--out", "o"} + more);
}

// Runs heed in a shell after a limit command. With more threads OpenBLAS could hang.
Finished limited(const Sandbox& sandbox, const std::string& limit, const Arguments& arguments) {
  Call call = sandbox.call({});
  call.arguments =
      Arguments{"/bin/sh", "-c", limit + "; exec \"$0\" \"$@\"", HEED_BINARY_DIR "/heed"} +
      arguments;
  call.environment["OPENBLAS_NUM_THREADS"] = "1";
  return run(call);
}

// Root may write everywhere. If this process is root's, it gets the user nobody for a scope.
class Nobody {
 public:
  Nobody() : changed_(::geteuid() == 0 && set_user(65534)) {}
  ~Nobody() {
    if (changed_ && !set_user(0)) std::abort();
  }
  Nobody(const Nobody&) = delete;
  Nobody& operator=(const Nobody&) = delete;

 private:
#if defined(__linux__)
  static bool set_user(uid_t user) { return ::setresuid(user, user, 0) == 0; }
#else
  static bool set_user(uid_t) { return false; }
#endif
  const bool changed_;
};

}  // namespace

TEST_CASE("usage errors are one line with exit code 2, and nothing is written",
          "[commands][train][rejections]") {
  const Sandbox sandbox;
  const Arguments train = {"train", "in.txt", "--out", "o"};
  CHECK(rejection_of(sandbox, train + Arguments{"--batch-size", "0"}, 2) ==
        "--batch-size 0: out of range: must be a whole number at least 1 and at most 1000000000");
  CHECK(rejection_of(sandbox, train + Arguments{"--lr", "nan"}, 2) ==
        "--lr nan: must be a finite number, above 0");
  CHECK(rejection_of(sandbox, train + Arguments{"--out="}, 2) ==
        "--out is given twice (o and ); give it once");
  CHECK(rejection_of(sandbox, {"train", "in.txt", "--out="}, 2) ==
        "--out '': needs the name of a folder");
  CHECK(rejection_of(sandbox, train + Arguments{"--resume", "--steps"}, 2) ==
        "--steps needs a value");
  CHECK(rejection_of(sandbox, {}, 2) == "no command; see --help");
}

TEST_CASE("a text that is missing or not a file is rejected in one line and nothing is written",
          "[commands][train][rejections]") {
  const Sandbox sandbox;
  std::filesystem::create_directory(sandbox / "folder");
  REQUIRE(::mkfifo((sandbox / "fifo").c_str(), 0600) == 0);
  std::filesystem::create_symlink("loop", sandbox / "loop");
  std::filesystem::create_symlink("/dev/null", sandbox / "null");
  CHECK(rejection_of(sandbox, {"train", "missing.txt"}) ==
        "missing.txt: No such file or directory");
  CHECK(rejection_of(sandbox, {"train", "in.txt/x"}) == "in.txt/x: Not a directory");
  CHECK(rejection_of(sandbox, {"train", "folder"}) == "folder: is a directory; give a text file");
  CHECK(rejection_of(sandbox, {"train", "fifo"}) ==
        "fifo: is not a regular file; give a text file, or - to read standard input");
  CHECK(rejection_of(sandbox, {"train", "null"}) == "null: is empty; give a text to train on");
  CHECK(has(rejection_of(sandbox, {"train", "loop"}), "loop: Too many"));
  CHECK(rejection_of(sandbox, {"train", "-"}) ==
        "standard input: is empty; give a text to train on");
  if (::geteuid() == 0) return;  // root may read everything
  std::filesystem::permissions(sandbox / "in.txt", std::filesystem::perms::none);
  CHECK(rejection_of(sandbox, {"train", "in.txt"}) == "in.txt: Permission denied");
}

TEST_CASE("an empty text is rejected in one line and nothing is written",
          "[commands][train][rejections]") {
  const Sandbox sandbox;
  CHECK(rejected_text(sandbox, "") == "in.txt: is empty; give a text to train on");
  CHECK(rejected_text(sandbox, "\xef\xbb\xbf") == "in.txt: is empty; give a text to train on");
}

TEST_CASE("a text shorter than the block is rejected in one line and nothing is written",
          "[commands][train][rejections]") {
  const Sandbox sandbox;
  const std::string remedy = "; give a longer text or a smaller --block-size";
  const std::string text = Sandbox::story();
  CHECK(rejected_text(sandbox, "a") ==
        "in.txt: 1 character leaves 1 for validation, which must be more than --block-size 64" +
            remedy);
  for (const std::string mark : {"", "\xef\xbb\xbf"})  // without the note about the mark
    CHECK(
        rejected_text(sandbox, mark + text.substr(0, 120), {"--block-size", "16"}) ==
        "in.txt: 120 characters leave 12 for validation, which must be more than --block-size 16" +
            remedy);
  CHECK(rejected_text(sandbox, text.substr(0, 160), {"--block-size", "16"}) ==
        "in.txt: 160 characters leave 16 for validation, which must be more than --block-size 16" +
            remedy);
  put(sandbox / "in.txt", text.substr(0, 161));
  CHECK(sandbox.heed(train_tiny).code == 0);
}

TEST_CASE("a text that is not UTF-8 is rejected with the byte's position, and nothing is written",
          "[commands][train][rejections]") {
  const Sandbox sandbox;
  const std::string remedy = "; convert the text or use --bytes";
  CHECK(rejected_text(sandbox, "caf\xe9 au lait") == "in.txt: not UTF-8: byte 3 is 0xe9" + remedy);
  CHECK(rejected_text(sandbox, "a\xed\xa0\x80") == "in.txt: not UTF-8: byte 1 is 0xed" + remedy);
  CHECK(rejected_text(sandbox, "caf\xc3") ==
        "in.txt: not UTF-8: the text ends inside the character that begins at byte 3 (0xc3)" +
            remedy);
}

TEST_CASE("a folder that cannot be created is rejected in one line and nothing is written",
          "[commands][train][rejections]") {
  const Sandbox sandbox;
  put(sandbox / "file", "");
  std::filesystem::create_symlink("loop", sandbox / "loop");
  const auto into = [&](const std::string& folder) {
    return rejection_of(sandbox, Arguments{"train", "in.txt", "--out", folder} + tiny);
  };
  CHECK(into("file") == "file: is a file, not a directory; choose another --out");
  CHECK(into("file/run") == "file/run: Not a directory; choose another --out");
  CHECK(has(into("loop"), "loop: "));
  CHECK(into(std::string(300, 'x')) ==
        std::string(300, 'x') + ": File name too long; choose another --out");
  if (::geteuid() == 0) return;  // root may write everywhere
  std::filesystem::create_directory(sandbox / "locked");
  std::filesystem::permissions(sandbox / "locked", std::filesystem::perms::owner_read);
  CHECK(into("locked") == "locked: Permission denied; choose another --out");
  CHECK(into("locked/run") == "locked/run: Permission denied; choose another --out");
}

TEST_CASE("a model too large for memory is rejected before training",
          "[commands][train][rejections]") {
  const Sandbox sandbox;
  const std::string text =
      rejection_of(sandbox, {"train", "in.txt", "--out", "o", "--block-size", "100000000"});
  CHECK(text.rfind("--batch-size 12, --block-size 100000000, --layers 4 and --embed-dim 128 need "
                   "about ",
                   0) == 0);
  CHECK(has(text, " GB of memory ("));
  CHECK(has(text, " GB are available; --block-size "));
  CHECK(has(text, " would fit"));
}

TEST_CASE("a loss of NaN ends the run and keeps the last checkpoint",
          "[commands][train][rejections]") {
  const Sandbox sandbox;
  const Arguments hot = Arguments{"train", "in.txt", "--lr", "1e30", "--warmup", "0"} + tiny;
  const Finished fresh = sandbox.heed(hot);
  CHECK(fresh.code == 1);
  CHECK(fresh.err.rfind("heed: error: the loss is ", 0) == 0);
  CHECK(
      has(fresh.err,
          " in step 2, at learning rate 9.93844e+29 and gradient norm nan; the first gradient that "
          "is not finite is that of token.weight; first occurrence: "));
  CHECK(has(fresh.err, "; nothing was saved yet; try a smaller --lr than 1e+30\n"));
  CHECK(fresh.err.find('\n') == fresh.err.size() - 1);
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const std::string saved = content(sandbox / "o/checkpoint.safetensors");
  const Finished over = sandbox.heed(hot + Arguments{"--out", "o", "--replace"});
  CHECK(has(over.err, "; the last saved checkpoint is unchanged; try a smaller --lr than 1e+30\n"));
  const Finished validated =
      sandbox.heed(hot + Arguments{"--out", "o", "--replace", "--eval-every", "1"});
  CHECK(validated.code == 1);
  CHECK(has(validated.err,
            "heed: error: the validation loss is nan after step 1, at learning rate 1e+30 "));
  CHECK(
      has(validated.err, "; first occurrence: Linear (12, 16, 16) made at src/nn/attention.cpp:"));
  CHECK(has(validated.err,
            "; the last saved checkpoint is unchanged; try a smaller --lr than 1e+30\n"));
  CHECK(validated.err.find('\n') == validated.err.size() - 1);
  CHECK(content(sandbox / "o/checkpoint.safetensors") == saved);
}

TEST_CASE("a run that diverges ends in that step and names the first value that is not finite",
          "[commands][train][rejections]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const std::string saved = content(sandbox / "o/checkpoint.safetensors");
  int tried = 0, reported = 0;
  for (const char* lr : {"1e6", "1e9", "1e15", "1e20", "1e30", "1e38", "1e300"}) {
    const Finished run =
        sandbox.heed(train_tiny + Arguments{"--replace", "--warmup", "0", "--lr", lr});
    INFO(lr << ": " << run.err);
    bool all = run.code == 1 && run.err.find('\n') == run.err.size() - 1 &&
               (has(run.err, "; the first gradient that is not finite is that of ") ||
                (has(run.err, "; parameter ") && has(run.err, " is not finite; ")));
    for (const char* part : {"heed: error: the loss is ", " in step ", ", at learning rate ",
                             " and gradient norm ", "; first occurrence: ", " made at src/",
                             "; the last saved checkpoint is unchanged; try a smaller --lr than "})
      all &= has(run.err, part);
    all &= content(sandbox / "o/checkpoint.safetensors") == saved;
    CHECK(all);
    ++tried;
    reported += all ? 1 : 0;
  }
  std::cout << "diverged: " << tried << " learning rates tried, " << reported
            << " reported in their step\n";
}

TEST_CASE("a folder that is not writable is rejected, and nothing is written",
          "[commands][train][rejections]") {
  const Sandbox sandbox;
  using std::filesystem::perms;
  const perms read = perms::owner_read | perms::group_read | perms::others_read;
  const perms enter = perms::owner_exec | perms::group_exec | perms::others_exec;
  std::filesystem::permissions(sandbox.path, perms::owner_all | read | enter);
  std::filesystem::create_directories(sandbox / "locked/old");
  std::filesystem::permissions(sandbox / "locked", read | enter);
  const heed::app::RunFolder locked{sandbox / "locked"}, inside{sandbox / "locked/run"};
  std::string error, error_inside, error_replacing;
  {
    const Nobody nobody;
    if (::geteuid() == 0) return;
    error = heed::test::message_of([&] { locked.create(); });
    error_inside = heed::test::message_of([&] { inside.create(); });
    error_replacing =
        heed::test::message_of([&] { heed::app::RunReplacement({sandbox / "locked/old"}); });
  }
  const std::string remedy = ": Permission denied; choose another --out";
  CHECK(error == (sandbox / "locked").string() + remedy);
  CHECK(error_inside == (sandbox / "locked/run").string() + remedy);
  CHECK(error_replacing == (sandbox / "locked/old").string() + ": cannot be replaced: " +
                               (sandbox / "locked/.old.new").string() + remedy);
  CHECK_FALSE(sandbox.has_file("locked/run"));
  std::filesystem::permissions(sandbox / "locked", perms::owner_all);
}

TEST_CASE("a model that does not fit in memory is rejected in one line with the sizes to reduce",
          "[commands][train][rejections]") {
  const Sandbox sandbox;
  if (sanitized || !std::filesystem::exists("/proc/self/statm")) return;
  const Arguments large = {"train",   "in.txt", "--out",       "o",    "--layers",  "4",
                           "--heads", "2",      "--embed-dim", "1024", "--threads", "1"};
  const Finished finished = limited(sandbox, "ulimit -v 200000", large);
  CHECK(finished.code == 1);
  CHECK(finished.out == "");
  CHECK(has(finished.err, " and --embed-dim 1024 need about 1.3 GB of memory ("));
  CHECK_FALSE(sandbox.has_file("o"));
}

TEST_CASE("a stack that is too small for OpenBLAS is rejected in one line",
          "[commands][train][rejections]") {
  const Sandbox sandbox;
  if (sanitized) return;
  const Finished finished = limited(sandbox, "ulimit -s 128", train_tiny);
  CHECK(finished.code == 1);
  CHECK(
      finished.err ==
      "heed: error: the stack may have 128 kB (ulimit -s), and heed needs 512; raise the limit\n");
  CHECK_FALSE(sandbox.has_file("o"));
  CHECK(limited(sandbox, "ulimit -s 512", train_tiny).code == 0);
}

TEST_CASE("a loss.csv that reaches the file size limit ends the run with one line",
          "[commands][train][rejections]") {
  const Sandbox sandbox;
  if (limited(sandbox, "ulimit -f 1", {"--version"}).code != 0) {
    WARN("the OpenMP runtime itself writes a larger file when heed starts");  // LLVM's does
    return;
  }
  const Finished early = limited(sandbox, "ulimit -f 1", train_tiny);
  CHECK(early.code == 1);
  CHECK(early.err ==
        "heed: error: o/checkpoint.safetensors: no space left: the limit on the size of a file "
        "(ulimit -f) is 512 bytes\n");
  CHECK(early.out == "");
  Arguments longer = train_tiny + Arguments{"--log-every", "1", "--eval-every", "2000"};
  *(std::find(longer.begin(), longer.end(), "--steps") + 1) = "2000";
  const Finished finished = limited(sandbox, "ulimit -f 40", longer);
  CHECK(finished.code == 1);
  CHECK(finished.err ==
        "heed: error: o/loss.csv: no space left: the limit on the size of a file (ulimit -f) is "
        "20480 bytes; the last saved checkpoint is unchanged\n");
  CHECK(has(finished.out, "\nstep    1  train "));
  CHECK_FALSE(has(finished.out, "\nstep 2000  train "));
  CHECK_FALSE(sandbox.has_file("o/sample.txt"));
}
