// run_lock.hpp: RunLock, the lock of a run's folder.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

namespace heed::app {

// Locks the file `.heed-lock` in a run's folder with flock(), so that only one trainer at a time
// uses the folder. The file contains the process ID and the host name of the trainer. The kernel
// releases the lock when the trainer ends, even if it is killed, and the next trainer reuses the
// file. On file systems that do not support flock(), two trainers can use the same folder.
class RunLock {
 public:
  // Error messages of acquire() end with `advice`.
  explicit RunLock(std::filesystem::path folder, std::string advice = "choose another --out")
      : path_(std::move(folder) / ".heed-lock"), advice_(std::move(advice)) {}
  ~RunLock();  // removes the lock file
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  // Does nothing if this RunLock already holds the lock. Throws Error `DIR: in use by process 123`
  // if another process holds the lock, and if the file is not a regular file with one name.
  void acquire();
  // Calls acquire() if the folder exists and is writable, otherwise does nothing.
  void acquire_if_possible();
  // Call it when two locked folders have exchanged their names: each lock keeps its name.
  void exchange(RunLock& other) { std::swap(descriptor_, other.descriptor_); }

 private:
  bool try_once();

  std::filesystem::path path_;
  std::string advice_;
  int descriptor_ = -1;
};

}  // namespace heed::app
