// atomic_file_test.cpp: AtomicFile leaves the complete old or new file after every failure.

#include "heed/base/atomic_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "catch.hpp"
#include "heed/base/error.hpp"
#include "scratch_folder.hpp"

using heed::AtomicFile;
using heed::write_file_atomically;
using heed_test::content;
using heed_test::put;
using heed_test::ScratchFolder;

namespace {

// While an object exists, limits the size of files that this process writes, like a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_limit_);
    const rlimit limit{bytes, old_limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_limit_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit old_limit_{};
  void (*handler_)(int);
};

pid_t ended_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

// What fsync() and fchmod() below have recorded.
std::vector<std::string> synced;      // "file" or "folder", and the content of observed_path
std::filesystem::path observed_path;  // if empty, fsync() records nothing
mode_t mode_before_change = 0;        // the permissions of the file before fchmod()

[[noreturn]] void save_repeatedly(const std::filesystem::path& path) {
  for (char letter = 'a';; letter = letter == 'z' ? 'a' : static_cast<char>(letter + 1))
    write_file_atomically(path, std::string(200'000, letter));
}

}  // namespace

#if defined(__linux__)
// These functions replace those of the C library in the whole test program.
extern "C" int fsync(int descriptor) {
  struct stat status {};
  if (!observed_path.empty() && ::fstat(descriptor, &status) == 0)
    synced.push_back(std::string(S_ISDIR(status.st_mode) ? "folder" : "file") + ", " +
                     observed_path.filename().string() + " is " + content(observed_path));
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

extern "C" int fchmod(int descriptor, mode_t mode) noexcept {
  struct stat status {};
  if (::fstat(descriptor, &status) == 0) mode_before_change = status.st_mode & 0777;
  return static_cast<int>(::syscall(SYS_fchmod, descriptor, mode));
}
#endif

TEST_CASE("a file written atomically replaces the old one and leaves nothing else",
          "[base][atomic_file]") {
  const ScratchFolder folder;
  write_file_atomically(folder / "loss.csv", "step,loss\n");
  CHECK(content(folder / "loss.csv") == "step,loss\n");
  write_file_atomically(folder / "loss.csv", "");
  CHECK(content(folder / "loss.csv").empty());
  CHECK(folder.files() == 1);
}

TEST_CASE("the old file is unchanged before commit and without commit", "[base][atomic_file]") {
  const ScratchFolder folder;
  put(folder / "a", "old");
  {
    AtomicFile file(folder / "a");
    file.write("new", 3);
    CHECK(content(folder / "a") == "old");
    CHECK(folder.files() == 2);
  }
  CHECK(content(folder / "a") == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("a full disk leaves the old file, no temporary file, and an error that gives the reason",
          "[base][atomic_file]") {
  const ScratchFolder folder;
  put(folder / "a", "old");
  const FileSizeLimit limit(4096);
  CHECK_THROWS_WITH(write_file_atomically(folder / "a", std::string(10'000, 'x')),
                    (folder / "a").string() +
                        ": no space left: the limit on the size of a file (ulimit -f) is 4096 "
                        "bytes");
  CHECK(content(folder / "a") == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("a path that cannot be written throws the system's error message",
          "[base][atomic_file]") {
  const ScratchFolder folder;
  const std::string missing = (folder / "no/such").string();
  CHECK_THROWS_WITH(AtomicFile(missing), missing + ": No such file or directory");
  CHECK_THROWS_WITH(AtomicFile(folder.path),
                    folder.path.string() + ": is a folder; move it away, or give another name");
  CHECK_THROWS_AS(AtomicFile(folder / ""), heed::Error);
  const std::string pipe = (folder / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(AtomicFile(pipe),
                    pipe + ": is not a regular file, so it cannot be replaced; remove it");
}

TEST_CASE("a folder without write permission throws before anything is written",
          "[base][atomic_file]") {
  const ScratchFolder folder;
  if (::geteuid() == 0) return;  // root may write anywhere
  ::chmod(folder.path.c_str(), 0500);
  CHECK_THROWS_WITH(AtomicFile(folder / "a"), (folder / "a").string() + ": Permission denied");
  ::chmod(folder.path.c_str(), 0700);
}

TEST_CASE("a symbolic link is rejected, whether its target exists or not", "[base][atomic_file]") {
  const ScratchFolder folder;
  put(folder / "a", "old");
  for (const char* target : {"a", "missing", "link"}) {
    std::filesystem::create_symlink(target, folder / "link");
    CHECK_THROWS_WITH(
        write_file_atomically(folder / "link", "new"),
        (folder / "link").string() +
            ": is a symbolic link, and heed writes no file through a link; remove the link");
    CHECK(std::filesystem::is_symlink(folder / "link"));
    std::filesystem::remove(folder / "link");
  }
  CHECK(content(folder / "a") == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("a temporary file left by an earlier process with the same number is replaced",
          "[base][atomic_file]") {
  const ScratchFolder folder;
  put(folder.path / (".a.tmp-" + std::to_string(::getpid())), "left over, and longer");
  write_file_atomically(folder / "a", "new");
  CHECK(content(folder / "a") == "new");
  CHECK(folder.files() == 1);
}

TEST_CASE("an AtomicFile removes what killed processes left of its path", "[base][atomic_file]") {
  const ScratchFolder folder;
  folder.write(".a.tmp-" + std::to_string(ended_process()), "half of a file");
  write_file_atomically(folder / "a", "new");
  CHECK(content(folder / "a") == "new");
  CHECK(folder.files() == 1);
}

TEST_CASE("remove_stale_temporaries removes unlocked temporary files and no other files",
          "[base][atomic_file]") {
  const ScratchFolder folder;
  const std::string ended = std::to_string(ended_process());
  const std::string own = std::to_string(::getpid());
  for (const std::string& stale : {ended, own, std::string("1")})
    folder.write(".a.tmp-" + stale, "");
  for (const std::string& other :
       {std::string("a"), ".b.tmp-" + ended, ".a.tmp-" + ended + "x", std::string(".a.tmp-"),
        std::string(".a.tmp--1"), std::string(".a.tmp-99999999999999999999")})
    folder.write(other, "");
  std::filesystem::create_symlink("a", folder / ".a.tmp-77");
  CHECK(heed::remove_stale_temporaries(folder / "a") == 3);
  CHECK(folder.files() == 7);
  CHECK(heed::remove_stale_temporaries(folder / "no/such") == 0);
}

TEST_CASE("a temporary file that is being written is not removed, and commit succeeds",
          "[base][atomic_file]") {
  const ScratchFolder folder;
  AtomicFile file(folder / "a");
  file.write("new", 3);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(heed::remove_stale_temporaries(folder / "a") == 0 ? 0 : 1);
  int status = 1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(heed::remove_stale_temporaries(folder / "a") == 0);
  file.commit();
  CHECK(content(folder / "a") == "new");
  CHECK(folder.files() == 1);
}

TEST_CASE("commit_new replaces no file that was made in the meantime", "[base][atomic_file]") {
  const ScratchFolder folder;
  const auto commit_new = [&](const std::string& name) {
    AtomicFile file(folder / name);
    file.write("new", 3);
    if (name == "late") write_file_atomically(folder / "other", "theirs");
    if (name == "late") std::filesystem::rename(folder / "other", folder / "late");
    file.commit_new();
  };
  commit_new("early");
  CHECK(content(folder / "early") == "new");
  CHECK_THROWS_WITH(
      commit_new("late"),
      (folder / "late").string() + ": exists already; give another name, or remove it first");
  CHECK(content(folder / "late") == "theirs");
  CHECK(folder.files() == 2);
}

TEST_CASE("a second AtomicFile for the same path in the same process throws",
          "[base][atomic_file]") {
  const ScratchFolder folder;
  AtomicFile first(folder / "a");
  first.write("first", 5);
  const std::string name = ".a.tmp-" + std::to_string(::getpid());
  CHECK_THROWS_WITH(AtomicFile(folder / "a"),
                    (folder / "a").string() + ": is already being written, as " + name);
  first.commit();
  CHECK(content(folder / "a") == "first");
}

TEST_CASE("removing stale temporary files in other processes does not disturb a writer",
          "[base][atomic_file]") {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "a";
  std::vector<pid_t> removers;
  for (int i = 0; i < 2; ++i)
    if (removers.push_back(::fork()); removers.back() == 0)
      for (;;) heed::remove_stale_temporaries(path);
  std::string error;
  for (int i = 0; i < 300 && error.empty(); ++i)
    error = heed::test::message_of([&] { write_file_atomically(path, std::to_string(i)); });
  for (const pid_t remover : removers) {
    ::kill(remover, SIGKILL);
    ::waitpid(remover, nullptr, 0);
  }
  CHECK(error == "");
  CHECK(content(path) == "299");
  CHECK(folder.files() == 1);
}

TEST_CASE("a new file has the permissions of the file it replaces", "[base][atomic_file]") {
  const ScratchFolder folder;
  for (const mode_t mode : {0600u, 0640u, 0664u, 0444u}) {
    put(folder / "a", "old");
    REQUIRE(::chmod((folder / "a").c_str(), mode) == 0);
    write_file_atomically(folder / "a", "new");
    struct stat now {};
    REQUIRE(::stat((folder / "a").c_str(), &now) == 0);
    CHECK((now.st_mode & 07777) == mode);
    std::filesystem::remove(folder / "a");
  }
  const mode_t old_mask = ::umask(027);
  write_file_atomically(folder / "b", "new");
  ::umask(old_mask);
  struct stat created {};
  REQUIRE(::stat((folder / "b").c_str(), &created) == 0);
  CHECK((created.st_mode & 07777) == 0640);
}

TEST_CASE("a file that root replaces keeps its owner", "[base][atomic_file]") {
  const ScratchFolder folder;
  if (::geteuid() != 0) return;  // only root may give files away
  put(folder / "a", "old");
  REQUIRE(::chown((folder / "a").c_str(), 65534, 65533) == 0);
  write_file_atomically(folder / "a", "new");
  struct stat now {};
  REQUIRE(::stat((folder / "a").c_str(), &now) == 0);
  CHECK(now.st_uid == 65534);
  CHECK(now.st_gid == 65533);
}

#if defined(__linux__)
TEST_CASE("the file is synced before it gets its name, and its folder after that",
          "[base][atomic_file]") {
  const ScratchFolder folder;
  put(folder / "a", "old");
  synced.clear();
  observed_path = folder / "a";
  write_file_atomically(folder / "a", "new");
  observed_path.clear();
  CHECK(synced == std::vector<std::string>{"file, a is old", "folder, a is new"});
}

TEST_CASE("the temporary file of a private file is private from its creation",
          "[base][atomic_file]") {
  const ScratchFolder folder;
  put(folder / "a", "old");
  for (const mode_t mode : {0600u, 0640u}) {
    ::chmod((folder / "a").c_str(), mode);
    mode_before_change = 0;
    write_file_atomically(folder / "a", "new");
    CHECK(mode_before_change == 0600);
    struct stat now {};
    REQUIRE(::stat((folder / "a").c_str(), &now) == 0);
    CHECK((now.st_mode & 0777) == mode);
  }
}
#endif

TEST_CASE("write_error_text explains each reason for a failed write", "[base][atomic_file]") {
  CHECK(heed::write_error_text(ENOSPC) == "no space left on the device");
  CHECK(heed::write_error_text(EDQUOT) == "no space left: the disk quota is used up");
  CHECK(heed::write_error_text(EFBIG) == "the file is larger than this file system allows");
  CHECK(heed::write_error_text(EIO) == "Input/output error");
}

TEST_CASE("a process killed while it saves leaves a complete file", "[base][atomic_file]") {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "a";
  write_file_atomically(path, std::string(200'000, 'a'));
  for (unsigned kill = 0; kill < 25; ++kill) {
    const pid_t child = ::fork();
    if (child == 0) save_repeatedly(path);
    ::usleep(1000 + 730 * kill);  // interrupts different steps of a save
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const std::string found = content(path);
    REQUIRE(found.size() == 200'000);
    REQUIRE(found == std::string(200'000, found[0]));
    heed::remove_stale_temporaries(path);
    REQUIRE(folder.files() == 1);
  }
}

TEST_CASE("commit fails if a folder has taken the file's name, and removes the temporary file",
          "[base][atomic_file]") {
  const ScratchFolder folder;
  {
    AtomicFile file(folder / "a");
    file.write("new", 3);
    std::filesystem::create_directory(folder / "a");
    CHECK_THROWS_WITH(file.commit(), (folder / "a").string() + ": Is a directory");
  }
  CHECK(std::filesystem::is_directory(folder / "a"));
  CHECK(folder.files() == 1);
}

TEST_CASE("without standard input, a file that gets descriptor 0 is written and closed",
          "[base][atomic_file]") {
  const ScratchFolder folder;
  const int input = ::dup(0);
  ::close(0);
  AtomicFile(folder / "a").write("text", 4);  // not committed
  const bool closed = ::fcntl(0, F_GETFD) < 0;
  // A file that has the name of the temporary: AtomicFile opens and removes it first.
  folder.write(".a.tmp-" + std::to_string(::getpid()), "");
  AtomicFile(folder / "a").write("text", 4);
  const bool closed_again = ::fcntl(0, F_GETFD) < 0;
  folder.write(".b.tmp-999999999", "");
  const std::size_t removed = heed::remove_stale_temporaries(folder / "b");
  if (input >= 0) ::dup2(input, 0), ::close(input);
  CHECK(closed);
  CHECK(closed_again);
  CHECK(removed == 1);
  CHECK(folder.files() == 0);
}

TEST_CASE("two folders exchange their names, also by renames", "[base][atomic_file]") {
  const ScratchFolder folder;
  const auto a = folder / "a", b = folder / "b", aside = folder / "aside";
  for (const auto& path : {a, b}) {
    std::filesystem::create_directory(path);
    put(path / "name", path.filename().string());
  }
  CHECK(heed::exchange_folders(a, b, aside) == 0);
  CHECK(content(a / "name") == "b");
  CHECK(content(b / "name") == "a");
  CHECK(heed::exchange_by_renames(a, b, aside) == 0);
  CHECK(content(a / "name") == "a");
  CHECK(content(b / "name") == "b");
  CHECK(heed::exchange_by_renames(a, folder / "missing", aside) == ENOENT);
  CHECK(content(a / "name") == "a");
  CHECK(heed::exchange_folders(a, folder / "missing", aside) == ENOENT);
  CHECK(content(a / "name") == "a");
  CHECK(folder.files() == 2);
}
