// run_lock.cpp: a lock file that allows one trainer at a time in a run's folder.

#include "heed/app/run_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace heed::app {
namespace {

namespace fs = std::filesystem;

std::string machine_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

// Whether the path still names the opened file.
bool is_named(const fs::path& path, int descriptor) {
  struct stat opened, named;
  return ::fstat(descriptor, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

const char* const unknown_owner = "another process";

// "process 123", with the host name if that is another machine or container.
std::string owner(const fs::path& path) {
  std::ifstream file(path);
  long process = 0;
  std::string machine;
  if (!(file >> process)) return unknown_owner;
  file >> machine;
  return "process " + std::to_string(process) +
         (machine.empty() || machine == machine_name() ? "" : " on " + in_quotes(machine));
}

// Waits up to 0.1 s for the owner's name, which is written after the lock is acquired.
[[noreturn]] void throw_in_use(const fs::path& path) {
  for (int tries = 0; tries < 100 && owner(path) == unknown_owner; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  throw_error(path.parent_path().string(), ": in use by ", owner(path),
              "; wait until it ends, or choose another --out");
}

// Ignores errors: the owner's name only serves the error messages of other processes.
void write_owner(int descriptor) {
  const std::string text = std::to_string(::getpid()) + " " + machine_name() + "\n";
  if (::ftruncate(descriptor, 0) != 0 || ::pwrite(descriptor, text.data(), text.size(), 0) < 0)
    errno = 0;
}

}  // namespace

RunLock::~RunLock() {
  if (descriptor_ < 0) return;
  ::unlink(path_.c_str());  // before close(): afterwards the file may belong to another process
  ::close(descriptor_);
}

// False if the previous owner removed the file between open() and flock().
bool RunLock::try_once() {
  constexpr int flags = O_CREAT | O_CLOEXEC | O_NOFOLLOW;
  int descriptor = ::open(path_.c_str(), O_RDWR | flags, 0666);
  if (descriptor < 0 && errno == EACCES)  // another user's file
    descriptor = ::open(path_.c_str(), O_RDONLY | flags, 0666);
  if (descriptor < 0)
    throw_error(path_.parent_path().string(), ": ", write_error_text(errno),
                "; choose another --out");
  const bool held_by_other = ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (!held_by_other && is_named(path_, descriptor)) {
    descriptor_ = descriptor;
    write_owner(descriptor);
    return true;
  }
  ::close(descriptor);
  if (held_by_other) throw_in_use(path_);
  return false;
}

void RunLock::acquire() {
  while (descriptor_ < 0 && !try_once()) continue;
}

void RunLock::acquire_if_possible() {
  std::error_code ignored;
  const fs::path folder = path_.parent_path();
  if (fs::is_directory(folder, ignored) && ::access(folder.c_str(), W_OK | X_OK) == 0) acquire();
}

}  // namespace heed::app
