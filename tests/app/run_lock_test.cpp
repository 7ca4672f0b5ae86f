// run_lock_test.cpp: one trainer at a time in a folder, whoever ended how.

#include "heed/app/run_lock.hpp"

#include <sys/file.h>

#include "app/heed_program.hpp"
#include "catch.hpp"

using namespace heed_test;
using heed::app::RunLock;

namespace {

const Words endless =
    Words{"train", "in.txt", "--out", "o"} +
    Words{"--layers",     "1",   "--embed-dim",  "16", "--heads",        "2",
          "--block-size", "16",  "--batch-size", "2",  "--eval-batches", "1",
          "--eval-every", "100", "--threads",    "1",  "--steps",        "1000000000"};

// Everything in a folder but what a running trainer changes all the time: names and contents.
std::map<std::string, std::string> contents(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files[entry.path().filename().string()] = content(entry.path());
  return files;
}

std::string in_use(pid_t process) {
  return "heed: error: o: in use by process " + std::to_string(process) +
         "; wait until it is done, or choose another --out\n";
}

}  // namespace

TEST_CASE("a second trainer on a folder is refused and names the first, which is unharmed",
          "[app][lock]") {
  const Desk desk;
  Child first(desk.call(endless));
  first.until("  val ");
  first.kill(SIGSTOP);  // so that what is there stays what it is
  const auto before = contents(desk / "o");
  const std::vector<Words> second = {train_tiny,
                                     {"train", "--resume", "--out", "o"},
                                     Words{"train", "in.txt", "--out", "./o/."} + tiny};
  for (const Words& words : second) {
    const Finished refused = desk.heed(words);
    CHECK(refused.code == 1);
    CHECK(refused.out == "");
    CHECK(has(refused.err, ": in use by process " + std::to_string(first.process()) + ";"));
    CHECK(refused.err.find('\n') == refused.err.size() - 1);
  }
  CHECK(desk.heed(train_tiny).err == in_use(first.process()));
  CHECK((contents(desk / "o") == before));
  CHECK(desk.heed({"inspect", "o"}).code == 0);
  CHECK(desk.heed({"sample", "o", "--tokens", "5"}).code == 0);
  first.kill(SIGCONT);
  first.kill(SIGINT);
  CHECK(first.finish().code == 130);
  CHECK_FALSE(desk.has_file("o/.heed-lock"));
  CHECK(desk.heed({"inspect", "o"}).code == 0);
}

TEST_CASE("the lock of a killed trainer is taken over, and gone at the end", "[app][lock]") {
  const Desk desk;
  Child first(desk.call(endless));
  first.until("  val ");
  first.kill(SIGKILL);
  CHECK(first.finish().code == 137);
  CHECK(desk.has_file("o/.heed-lock"));
  CHECK(desk.heed(train_tiny).code == 0);
  CHECK_FALSE(desk.has_file("o/.heed-lock"));
}

TEST_CASE("numbers in a lock mean nothing: a living process's, one's own, none, or nonsense",
          "[app][lock]") {
  const Desk desk;
  for (const std::string& left :
       {std::string("1 elsewhere\n"), std::to_string(::getpid()) + "\n", std::string(),  //
        std::string("\x1b[2J\xff\n"), std::string(100000, '9')}) {
    std::filesystem::create_directories(desk / "o");
    put(desk / "o/.heed-lock", left);
    CHECK(desk.heed(train_tiny).code == 0);
    CHECK_FALSE(desk.has_file("o/.heed-lock"));
  }
}

TEST_CASE("a trainer that fails or is refused leaves no lock", "[app][lock]") {
  const Desk desk;
  CHECK(desk.heed(train_tiny + Words{"--lr", "1e30", "--warmup", "0"}).code == 1);
  CHECK(desk.has_file("o"));
  CHECK_FALSE(desk.has_file("o/.heed-lock"));
  CHECK(desk.heed({"train", "missing.txt", "--out", "o"}).code == 1);
  CHECK_FALSE(desk.has_file("o/.heed-lock"));
}

TEST_CASE("a lock held on another machine names that machine, and one without words nobody",
          "[app][lock]") {
  const Desk desk;
  std::filesystem::create_directories(desk / "o");
  const auto refused = [&](const std::string& owner) {
    put(desk / "o/.heed-lock", owner);
    const int held = ::open((desk / "o/.heed-lock").c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(::flock(held, LOCK_EX) == 0);
    const Finished run = desk.heed(train_tiny);
    ::close(held);
    CHECK(run.code == 1);
    return run.err;
  };
  const std::string rest = "; wait until it is done, or choose another --out\n";
  CHECK(refused("12 far.away\n") == "heed: error: o: in use by process 12 on 'far.away'" + rest);
  CHECK(refused("12 \x1b[2J\n") == "heed: error: o: in use by process 12 on '\\x1b[2J'" + rest);
  CHECK(refused("") == "heed: error: o: in use by another process" + rest);
  CHECK(refused("who?") == "heed: error: o: in use by another process" + rest);
}

TEST_CASE("of many that want a folder at once, one at a time has it", "[app][lock]") {
  const Desk desk;
  std::vector<pid_t> children;
  const std::string inside = (desk / "inside").string();
  for (int i = 0; i < 4; ++i) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    int had = 0;
    for (int tries = 0; tries < 100000 && had < 500; ++tries) {
      RunLock lock(desk.path);
      if (refusal([&] { lock.take(); }) != "") continue;
      const int alone = ::open(inside.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
      if (alone < 0) ::_exit(1);
      ::close(alone);
      ::unlink(inside.c_str());
      ++had;
    }
    ::_exit(had > 0 ? 0 : 2);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  CHECK_FALSE(desk.has_file(".heed-lock"));
}
