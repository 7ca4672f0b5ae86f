// run_lock.hpp: one trainer at a time in a run's folder.
#pragma once

#include <filesystem>

namespace heed::app {

// A lock (flock) on the file `.heed-lock` in a run's folder, which says who has it: the process and
// its machine. The kernel drops the lock with the process, whatever ends it; a file left by a
// killed one is taken over. Where a file system knows no locks, there is no protection.
class RunLock {
 public:
  explicit RunLock(std::filesystem::path folder) : path_(std::move(folder) / ".heed-lock") {}
  ~RunLock();  // removes the file
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  // Once it is held, does nothing. Throws Error `DIR: in use by process 123`.
  void take();
  // The same, but leaves alone a folder in which no lock can be made: there may be none yet.
  void take_if_possible();

 private:
  bool try_once();

  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace heed::app
