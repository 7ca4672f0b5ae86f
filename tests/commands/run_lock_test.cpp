// run_lock_test.cpp: the lock of a run's folder, also after a trainer was killed.

#include "commands/run_lock.hpp"

#include <sys/file.h>
#include <sys/stat.h>

#include "base/process.hpp"
#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "heed/base/atomic_file.hpp"

using namespace heed_test;
using heed::app::RunLock;

namespace {

const Arguments endless_run =
    Arguments{"train", "in.txt", "--out", "o"} +
    Arguments{"--layers",     "1",   "--embed-dim",  "16", "--heads",        "2",
              "--block-size", "16",  "--batch-size", "2",  "--eval-batches", "1",
              "--eval-every", "100", "--threads",    "1",  "--steps",        "1000000000"};

// The files of a folder by name, with their contents.
std::map<std::string, std::string> contents(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files[entry.path().filename().string()] = content(entry.path());
  return files;
}

std::string in_use(pid_t process) {
  return "heed: error: o: in use by process " + std::to_string(process) +
         "; wait until it ends, or choose another --out\n";
}

}  // namespace

TEST_CASE("a second trainer is rejected and names the first, which it does not disturb",
          "[commands][lock]") {
  const Sandbox sandbox;
  Child first(sandbox.call(endless_run));
  first.read_until("  val ");
  first.kill(SIGSTOP);  // so that the files do not change
  const auto before = contents(sandbox / "o");
  const std::vector<Arguments> second = {train_tiny,
                                         {"train", "--resume", "--out", "o"},
                                         Arguments{"train", "in.txt", "--out", "./o/."} + tiny};
  for (const Arguments& arguments : second) {
    const Finished rejected = sandbox.heed(arguments);
    CHECK(rejected.code == 1);
    CHECK(rejected.out == "");
    CHECK(has(rejected.err, ": in use by process " + std::to_string(first.process()) + ";"));
    CHECK(rejected.err.find('\n') == rejected.err.size() - 1);
  }
  CHECK(sandbox.heed(train_tiny).err == in_use(first.process()));
  CHECK((contents(sandbox / "o") == before));
  CHECK(sandbox.heed({"inspect", "o"}).code == 0);
  CHECK(sandbox.heed({"sample", "o", "--tokens", "5"}).code == 0);
  first.kill(SIGCONT);
  first.kill(SIGINT);
  CHECK(first.finish().code == 130);
  CHECK_FALSE(sandbox.has_file("o/.heed-lock"));
  CHECK(sandbox.heed({"inspect", "o"}).code == 0);
}

TEST_CASE("the lock file of a killed trainer is reused, and removed at the end",
          "[commands][lock]") {
  const Sandbox sandbox;
  Child first(sandbox.call(endless_run));
  first.read_until("  val ");
  first.kill(SIGKILL);
  CHECK(first.finish().code == 137);
  CHECK(sandbox.has_file("o/.heed-lock"));
  CHECK(sandbox.heed(train_tiny + Arguments{"--replace"}).code == 0);
  CHECK_FALSE(sandbox.has_file("o/.heed-lock"));
}

TEST_CASE("the content of an unlocked lock file is ignored", "[commands][lock]") {
  const Sandbox sandbox;
  for (const std::string& old_content :
       {std::string("1 elsewhere\n"), std::to_string(::getpid()) + "\n", std::string(),  //
        std::string("\x1b[2J\xff\n"), std::string(100000, '9')}) {
    std::filesystem::create_directories(sandbox / "o");
    put(sandbox / "o/.heed-lock", old_content);
    CHECK(sandbox.heed(train_tiny + Arguments{"--replace"}).code == 0);
    CHECK_FALSE(sandbox.has_file("o/.heed-lock"));
  }
}

TEST_CASE("a lock file that is a link, a second name of a file, or a pipe is rejected and kept",
          "[commands][lock]") {
  const Sandbox sandbox;
  put(sandbox / "other", "mine");
  std::filesystem::create_directory(sandbox / "o");
  const auto lock = sandbox / "o/.heed-lock";
  const auto rejection = [&] {
    const Finished rejected = sandbox.heed(train_tiny);
    CHECK(rejected.code == 1);
    CHECK(rejected.out == "");
    CHECK(content(sandbox / "other") == "mine");
    CHECK(std::filesystem::exists(std::filesystem::symlink_status(lock)));
    std::filesystem::remove(lock);
    return rejected.err;
  };
  std::filesystem::create_symlink("../other", lock);
  CHECK(rejection() ==
        "heed: error: o/.heed-lock: is a symbolic link, and heed writes no file through a link; "
        "remove the link\n");
  const std::string not_a_lock =
      "heed: error: o/.heed-lock: is not a file, or has a second name (hard link); remove it\n";
  std::filesystem::create_hard_link(sandbox / "other", lock);
  CHECK(rejection() == not_a_lock);
  REQUIRE(::mkfifo(lock.c_str(), 0600) == 0);
  CHECK(rejection() == not_a_lock);
  std::filesystem::create_directory(lock);
  CHECK(rejection() == not_a_lock);
}

TEST_CASE("a trainer that fails or is rejected leaves no lock file", "[commands][lock]") {
  const Sandbox sandbox;
  CHECK(sandbox.heed(train_tiny + Arguments{"--lr", "1e30", "--warmup", "0"}).code == 1);
  CHECK(sandbox.has_file("o"));
  CHECK_FALSE(sandbox.has_file("o/.heed-lock"));
  CHECK(sandbox.heed({"train", "missing.txt", "--out", "o"}).code == 1);
  CHECK_FALSE(sandbox.has_file("o/.heed-lock"));
}

TEST_CASE("the error names the owner's process and, if different, its machine",
          "[commands][lock]") {
  const Sandbox sandbox;
  std::filesystem::create_directories(sandbox / "o");
  const auto rejected = [&](const std::string& owner) {
    put(sandbox / "o/.heed-lock", owner);
    const int held = ::open((sandbox / "o/.heed-lock").c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(::flock(held, LOCK_EX) == 0);
    const Finished run = sandbox.heed(train_tiny);
    ::close(held);
    CHECK(run.code == 1);
    return run.err;
  };
  const std::string rest = "; wait until it ends, or choose another --out\n";
  CHECK(rejected("12 far.away\n") == "heed: error: o: in use by process 12 on 'far.away'" + rest);
  CHECK(rejected("12 \x1b[2J\n") == "heed: error: o: in use by process 12 on '\\x1b[2J'" + rest);
  CHECK(rejected("") == "heed: error: o: in use by another process" + rest);
  CHECK(rejected("who?") == "heed: error: o: in use by another process" + rest);
}

TEST_CASE("of several processes, one at a time holds the lock", "[commands][lock]") {
  const Sandbox sandbox;
  std::vector<pid_t> children;
  const std::string inside = (sandbox / "inside").string();
  for (int i = 0; i < 4; ++i) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    int acquired = 0;
    for (int tries = 0; tries < 100000 && acquired < 500; ++tries) {
      RunLock lock(sandbox.path);
      if (heed::test::message_of([&] { lock.acquire(); }) != "") continue;
      const int exclusive = ::open(inside.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
      if (exclusive < 0) ::_exit(1);
      ::close(exclusive);
      ::unlink(inside.c_str());
      ++acquired;
    }
    ::_exit(acquired > 0 ? 0 : 2);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  CHECK_FALSE(sandbox.has_file(".heed-lock"));
}

TEST_CASE("child processes do not inherit the lock or a file that is being written",
          "[commands][lock]") {
  if (!std::filesystem::exists("/proc/self/fd")) return;
  const ScratchFolder folder;
  heed::app::RunLock lock(folder.path);
  lock.acquire();
  const heed::AtomicFile file(folder / "a");
  const std::string open_files = heed::run_child({{"ls", "-l", "/proc/self/fd"}}).out;
  CHECK(has(open_files, "->"));
  CHECK_FALSE(has(open_files, folder.path.filename().string()));
}
