// run_lock.hpp: a lock file that allows one trainer at a time in a run's folder.
#pragma once

#include <filesystem>

namespace heed::app {

// A lock (flock) on the file `.heed-lock` in a run's folder. The file holds the process id and the
// host name of the owner. The kernel releases the lock when the process ends, even when it is
// killed; the next trainer then reuses the file. On file systems without locks there is no
// protection.
class RunLock {
 public:
  explicit RunLock(std::filesystem::path folder) : path_(std::move(folder) / ".heed-lock") {}
  ~RunLock();  // removes the file
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  // Does nothing if the lock is held already. Throws Error `DIR: in use by process 123`.
  void acquire();
  // The same, but does nothing if the folder does not exist yet or is not writable.
  void acquire_if_possible();

 private:
  bool try_once();

  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace heed::app
