// run_lock.cpp: RunLock, the lock of a run's folder.

#include "commands/run_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <system_error>
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

// Returns "process 123" from the lock file, with the host name if the process runs on another
// machine or container. Returns an empty string if the file contains no process ID.
std::string owner(const fs::path& path) {
  std::ifstream file(path);
  long process = 0;
  std::string machine;
  if (!(file >> process)) return "";
  file >> machine;
  return "process " + std::to_string(process) +
         (machine.empty() || machine == machine_name() ? "" : " on " + in_quotes(machine));
}

[[noreturn]] void throw_no_lock_file(const fs::path& path) {
  throw_error(path.string(), ": is not a file, or has a second name (hard link); remove it");
}

// Throws Error unless the open lock file is a regular file with one name. In a folder that somebody
// else has made, it could be a second name (hard link) of a file that the user wants to keep.
void check_lock_file(const fs::path& path, int descriptor) {
  struct stat status;
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink <= 1) return;
  ::close(descriptor);
  throw_no_lock_file(path);
}

// Throws Error with the process ID of the lock's owner. Waits up to 0.1 s for the owner to write
// its process ID to the lock file.
[[noreturn]] void throw_in_use(const fs::path& path, const std::string& advice) {
  std::string name = owner(path);
  for (int tries = 0; tries < 100 && name.empty(); ++tries, name = owner(path))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  throw_error(path.parent_path().string(), ": in use by ", name.empty() ? "another process" : name,
              "; wait until it ends, or ", advice);
}

// Writes the process ID and the host name of this process to the lock file. Ignores write errors,
// because only the error messages of other processes need the ID.
void write_owner(int descriptor) {
  const std::string text = std::to_string(::getpid()) + " " + machine_name() + "\n";
  if (::ftruncate(descriptor, 0) != 0 || ::pwrite(descriptor, text.data(), text.size(), 0) < 0)
    errno = 0;
}

}  // namespace

RunLock::~RunLock() {
  if (descriptor_ < 0) return;
  ::unlink(path_.c_str());  // unlink first: after close(), another process may lock the file
  ::close(descriptor_);
}

// Tries once to lock the file. Returns false if the previous owner removed the lock file between
// open() and flock() of this process. Throws Error if another process holds the lock.
bool RunLock::try_once() {
  // With O_NONBLOCK, open() does not wait for the other end of a pipe.
  constexpr int flags = O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  int descriptor = ::open(path_.c_str(), O_RDWR | flags, 0666);
  if (descriptor < 0 && errno == EACCES)  // the lock file belongs to another user
    descriptor = ::open(path_.c_str(), O_RDONLY | flags, 0666);
  if (descriptor < 0 && errno == ELOOP)
    throw_error(path_.string(),
                ": is a symbolic link, and heed writes no file through a link; remove the link");
  if (descriptor < 0 && errno == EISDIR) throw_no_lock_file(path_);
  if (descriptor < 0)
    throw_error(path_.parent_path().string(), ": ", write_error_text(errno), "; ", advice_);
  check_lock_file(path_, descriptor);
  const bool held_by_other = ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (!held_by_other && is_same_file(path_, descriptor)) {
    descriptor_ = descriptor;
    write_owner(descriptor);
    return true;
  }
  ::close(descriptor);
  if (held_by_other) throw_in_use(path_, advice_);
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
